package io.varve.server.command.stream.group;

import io.varve.server.command.CommandContext;
import io.varve.server.command.stream.StreamId;
import org.jspecify.annotations.Nullable;

/**
 * The options of XCLAIM. Immutable.
 *
 * @param delivered the time of delivery that the entries get, ms
 * @param retryCount the number of deliveries that they get; negative if it was not given
 * @param force whether entries that are not pending are claimed too
 * @param justId whether only IDs are replied
 */
record ClaimOptions(long delivered, long retryCount, boolean force, boolean justId) {
    /**
     * Parses the options, or replies the error.
     *
     * @param first the first argument behind the IDs
     * @param lastId gets LASTID, or 0-0
     */
    static @Nullable ClaimOptions parse(CommandContext context, int first, StreamId lastId) {
        boolean force = false;
        boolean justId = false;
        long now = context.now();
        long delivered = now;
        long retryCount = -1;
        lastId.set(0, 0);
        for (int i = first; i < context.argumentCount(); i++) {
            boolean more = i + 1 < context.argumentCount();
            if (context.argumentIs(i, "FORCE")) {
                force = true;
            } else if (context.argumentIs(i, "JUSTID")) {
                justId = true;
            } else if (more && context.argumentIs(i, "IDLE")) {
                i++;
                if (!context.requireLong(i, "ERR Invalid IDLE option argument for XCLAIM")) {
                    return null;
                }
                delivered = now - context.longValue();
            } else if (more && context.argumentIs(i, "TIME")) {
                i++;
                if (!context.requireLong(i, "ERR Invalid TIME option argument for XCLAIM")) {
                    return null;
                }
                delivered = context.longValue();
            } else if (more && context.argumentIs(i, "RETRYCOUNT")) {
                i++;
                if (!context.requireLong(i, "ERR Invalid RETRYCOUNT option argument for XCLAIM")) {
                    return null;
                }
                retryCount = context.longValue();
            } else if (more && context.argumentIs(i, "LASTID")) {
                i++;
                if (!lastId.requireStrictly(context, i, 0)) {
                    return null;
                }
            } else {
                context.reply().errorOfBytes("ERR Unrecognized XCLAIM option '" + GroupErrors.text(context, i) + "'");
                return null;
            }
        }
        return new ClaimOptions(delivered < 0 || delivered > now ? now : delivered, retryCount, force, justId);
    }
}
