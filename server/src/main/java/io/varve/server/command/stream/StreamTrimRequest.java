package io.varve.server.command.stream;

import io.varve.memory.collection.stream.StreamMetadataLayout;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;

/**
 * The parsed options of XADD and XTRIM: what is to be trimmed, and XADD's ID. Confined to its event loop; reused from
 * command to command.
 */
final class StreamTrimRequest {
    /** Blocks that one approximate trim deletes at most, in entries, unless LIMIT says otherwise. */
    private static final int USUAL_BLOCKS = 100;
    private static final long USUAL_LIMIT = 10_000;
    private static final long MAX_USUAL_LIMIT = 1_000_000;
    private static final int FIRST_OPTION = 2;

    private enum Bound {
        NONE, MAXLEN, MINID
    }

    private final StreamTrim trim = new StreamTrim();
    private final StreamId id = new StreamId();
    private final StreamId minId = new StreamId();
    private Bound bound = Bound.NONE;
    private boolean isApproximate;
    private boolean isLimited;
    private long limit;
    private boolean noMakeStream;
    private boolean hasId;
    /** The argument behind the options: XADD's ID. */
    private int end;

    /** Parses the options of XADD up to its ID, or replies the error. */
    boolean parseForAdding(CommandContext context) {
        return parse(context, true);
    }

    /** Parses the options of XTRIM, or replies the error. */
    boolean parse(CommandContext context) {
        return parse(context, false);
    }

    private boolean parse(CommandContext context, boolean adds) {
        bound = Bound.NONE;
        isApproximate = false;
        isLimited = false;
        limit = 0;
        noMakeStream = false;
        hasId = false;
        int count = context.argumentCount();
        for (end = FIRST_OPTION; end < count; end++) {
            boolean more = end + 1 < count;
            if (adds && isLetter(context, end, '*')) {
                break;
            }
            if (more && context.argumentIs(end, "MAXLEN")) {
                if (!parseBound(context, Bound.MAXLEN)) {
                    return false;
                }
            } else if (more && context.argumentIs(end, "MINID")) {
                if (!parseBound(context, Bound.MINID)) {
                    return false;
                }
            } else if (more && context.argumentIs(end, "LIMIT")) {
                if (!parseLimit(context)) {
                    return false;
                }
            } else if (adds && context.argumentIs(end, "NOMKSTREAM")) {
                noMakeStream = true;
            } else if (adds) {
                if (!id.parseForAdding(context.argumentAddress(end), context.argumentLength(end))) {
                    context.reply().error(StreamId.INVALID);
                    return false;
                }
                hasId = true;
                break;
            } else {
                context.syntaxError();
                return false;
            }
        }
        return accept(context, adds);
    }

    private static boolean isLetter(CommandContext context, int argument, char letter) {
        return context.argumentLength(argument) == 1 && Memory.getByte(context.argumentAddress(argument)) == letter;
    }

    private boolean parseBound(CommandContext context, Bound kind) {
        if (bound != Bound.NONE) {
            context.reply().error("ERR syntax error, MAXLEN and MINID options at the same time are not compatible");
            return false;
        }
        isApproximate = false;
        if (end + 2 < context.argumentCount()) {
            isApproximate = isLetter(context, end + 1, '~');
            if (isApproximate || isLetter(context, end + 1, '=')) {
                end++;
            }
        }
        end++;
        bound = kind;
        if (kind == Bound.MINID) {
            if (!minId.requireStrictly(context, end, 0)) {
                return false;
            }
            trim.byId(minId.ms(), minId.seq());
            return true;
        }
        if (!context.requireLong(end)) {
            return false;
        }
        if (context.longValue() < 0) {
            context.reply().error("ERR The MAXLEN argument must be >= 0.");
            return false;
        }
        trim.byLength(context.longValue());
        return true;
    }

    private boolean parseLimit(CommandContext context) {
        end++;
        if (!context.requireLong(end)) {
            return false;
        }
        limit = context.longValue();
        if (limit < 0) {
            context.reply().error("ERR The LIMIT argument must be >= 0.");
            return false;
        }
        isLimited = true;
        return true;
    }

    private boolean accept(CommandContext context, boolean adds) {
        if (limit > 0 && bound == Bound.NONE) {
            context.reply().error("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy");
            return false;
        }
        if (!adds && bound == Bound.NONE) {
            context.reply().error("ERR syntax error, XTRIM must be called with a trimming strategy");
            return false;
        }
        if (isLimited && !isApproximate) {
            context.reply().error("ERR syntax error, LIMIT cannot be used without the special ~ option");
            return false;
        }
        if (!isLimited && isApproximate) {
            long maxEntries = context.server().config().streamNodeMaxEntries();
            limit = maxEntries == 0
                    ? USUAL_LIMIT
                    : Math.min(MAX_USUAL_LIMIT, Math.min(maxEntries, MAX_USUAL_LIMIT) * USUAL_BLOCKS);
        }
        return true;
    }

    // --- what was parsed

    boolean mayNotMakeStream() {
        return noMakeStream;
    }

    /** Whether an ID was given, and not * alone. */
    boolean hasId() {
        return hasId;
    }

    /** Whether an ID was given with its sequence number. */
    boolean hasWholeId() {
        return hasId && id.hasSeq();
    }

    /** The given ID. */
    StreamId id() {
        return id;
    }

    /** The argument behind the options, XADD's ID. */
    int end() {
        return end;
    }

    boolean trims() {
        return bound != Bound.NONE;
    }

    boolean isApproximate() {
        return isApproximate;
    }

    /** Trims a stream; returns the number of deleted entries. */
    long trim(StreamValue stream) {
        return stream.trim(trim, isApproximate, limit);
    }

    // --- the record

    /** The arguments that {@link #record} adds. */
    int recordedArguments() {
        return (noMakeStream ? 1 : 0) + (trims() ? 3 : 0);
    }

    /**
     * Adds the options to a record, after the trim. An approximate trim is recorded as an exact one with the same
     * result, because blocks may have other sizes where the record is applied.
     */
    void record(ChangeRecorder record, StreamValue stream, long text) {
        if (noMakeStream) {
            record.argument(RecordedCommand.NOMKSTREAM);
        }
        if (!trims()) {
            return;
        }
        record.argument(bound == Bound.MAXLEN ? RecordedCommand.MAXLEN : RecordedCommand.MINID);
        record.argument(RecordedCommand.EXACTLY);
        if (bound == Bound.MAXLEN && isApproximate) {
            record.argument(stream.length());
        } else if (bound == Bound.MAXLEN) {
            record.argument(trim.maxLength());
        } else if (isApproximate && stream.length() > 0) {
            long metadata = stream.metadata();
            record.argument(text, StreamId.put(text, StreamMetadataLayout.firstMs(metadata),
                    StreamMetadataLayout.firstSeq(metadata)));
        } else {
            // A stream without entries has no first ID: then all entries were less than the one asked for.
            record.argument(text, StreamId.put(text, minId.ms(), minId.seq()));
        }
    }

    /** Records XTRIM with these options, in place of the running command. */
    void record(CommandContext context, Key key, StreamValue stream, long text) {
        ChangeRecorder record = context.record(RecordedCommand.XTRIM, key, 2 + recordedArguments());
        record(record, stream, text);
        record.end();
    }
}
