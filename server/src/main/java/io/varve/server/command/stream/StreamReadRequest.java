package io.varve.server.command.stream;

import io.varve.server.command.CommandContext;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.KeyFinder.KeyIndexes;
import io.varve.server.command.spec.TimeoutFinder;

/** The parsed options of XREAD and XREADGROUP. Confined to its event loop; reused from command to command. */
public final class StreamReadRequest {
    /** The value of {@link #blockMillis} without BLOCK. */
    public static final long DOES_NOT_BLOCK = -1;
    /** Entries that a blocked client gets at most if it gave no COUNT. */
    public static final long BLOCKED_COUNT = 1000;
    private static final int NONE = 0;
    /** Where STREAMS can be at the earliest in XREAD. */
    private static final int FIRST_OPTION = 1;
    /** Where it can be in XREADGROUP, behind {@code GROUP group consumer}. */
    private static final int FIRST_BEHIND_GROUP = 4;

    private long count;
    private long blockMillis;
    private boolean isNoAck;
    private int group;
    private int firstKey;
    private int streams;

    /** Parses the arguments in front of the IDs, or replies the error. */
    public boolean parse(CommandContext context, boolean ofGroup) {
        count = 0;
        blockMillis = DOES_NOT_BLOCK;
        isNoAck = false;
        group = NONE;
        firstKey = NONE;
        int arguments = context.argumentCount();
        for (int i = 1; i < arguments && firstKey == NONE; i++) {
            int more = arguments - i - 1;
            if (more > 0 && context.argumentIs(i, "BLOCK")) {
                i++;
                if (!parseTimeout(context, i)) {
                    return false;
                }
                if (context.isInScript()) {
                    context.reply().error("ERR " + context.argumentString(0)
                            + " command is not allowed with BLOCK option from scripts");
                    return false;
                }
            } else if (more > 0 && context.argumentIs(i, "COUNT")) {
                i++;
                if (!context.requireLong(i)) {
                    return false;
                }
                count = Math.max(0, context.longValue());
            } else if (more > 0 && context.argumentIs(i, "STREAMS")) {
                firstKey = i + 1;
            } else if (more > 1 && context.argumentIs(i, "GROUP")) {
                if (!ofGroup) {
                    context.reply()
                            .error("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.");
                    return false;
                }
                group = i + 1;
                i += 2;
            } else if (context.argumentIs(i, "NOACK")) {
                if (!ofGroup) {
                    context.reply()
                            .error("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.");
                    return false;
                }
                isNoAck = true;
            } else {
                context.syntaxError();
                return false;
            }
        }
        return accept(context, ofGroup);
    }

    private boolean accept(CommandContext context, boolean ofGroup) {
        if (firstKey == NONE) {
            context.syntaxError();
            return false;
        }
        int rest = context.argumentCount() - firstKey;
        if (rest % 2 != 0) {
            // As in Redis 7.0 also for XREADGROUP.
            context.reply().error("ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be"
                    + " specified.");
            return false;
        }
        streams = rest / 2;
        if (ofGroup && group == NONE) {
            context.reply().error("ERR Missing GROUP option for XREADGROUP");
            return false;
        }
        return true;
    }

    private boolean parseTimeout(CommandContext context, int argument) {
        if (!context.requireLong(argument, "ERR timeout is not an integer or out of range")) {
            return false;
        }
        blockMillis = context.longValue();
        if (blockMillis < 0) {
            context.reply().error("ERR timeout is negative");
            return false;
        }
        if (blockMillis > Long.MAX_VALUE - context.now()) {
            context.reply().error("ERR timeout is out of range");
            return false;
        }
        return true;
    }

    // --- what was parsed

    /** The most entries of each stream, 0 for all. */
    public long count() {
        return count;
    }

    /** The most entries for a client that has waited. */
    public long blockedCount() {
        return count == 0 ? BLOCKED_COUNT : count;
    }

    /** Milliseconds to wait, 0 without limit; {@link #DOES_NOT_BLOCK} not to wait. */
    public long blockMillis() {
        return blockMillis;
    }

    public boolean isNoAck() {
        return isNoAck;
    }

    /** The argument with the group's name; that of the consumer follows. */
    public int groupArgument() {
        return group;
    }

    /** The number of streams. */
    public int streams() {
        return streams;
    }

    /** The argument with a stream's key. */
    public int keyArgument(int stream) {
        return firstKey + stream;
    }

    /** The argument with a stream's ID. */
    public int idArgument(int stream) {
        return firstKey + streams + stream;
    }

    // --- for the command table

    /**
     * Finds the keys of XREAD: the first half of the arguments behind STREAMS. As in Redis, also those of a command
     * that is refused because of other arguments.
     */
    public static void findKeys(Arguments arguments, KeyIndexes keys) {
        findKeys(arguments, FIRST_OPTION, keys);
    }

    /** Finds the keys of XREADGROUP likewise, if {@code GROUP group consumer} has room in front of STREAMS. */
    public static void findKeysBehindGroup(Arguments arguments, KeyIndexes keys) {
        findKeys(arguments, FIRST_BEHIND_GROUP, keys);
    }

    private static void findKeys(Arguments arguments, int from, KeyIndexes keys) {
        int first = firstKey(arguments, from);
        int count = first == NONE ? 0 : (arguments.argumentCount() - first) / 2;
        for (int i = first; i < first + count; i++) {
            keys.add(i);
        }
    }

    private static int firstKey(Arguments arguments, int from) {
        for (int i = 1; i < arguments.argumentCount(); i += Math.max(1, optionArguments(arguments, i))) {
            if (i >= from && arguments.argumentIs(i, "STREAMS")) {
                return i + 1;
            }
        }
        return NONE;
    }

    /** Arguments of an option, itself included; 0 if it is none. */
    private static int optionArguments(Arguments arguments, int at) {
        return arguments.argumentIs(at, "BLOCK") || arguments.argumentIs(at, "COUNT")
                ? 2
                : arguments.argumentIs(at, "GROUP") ? 3 : arguments.argumentIs(at, "NOACK") ? 1 : NONE;
    }

    /** Finds the timeout: see {@link TimeoutFinder}. */
    public static int findTimeout(Arguments arguments) {
        int timeout = TimeoutFinder.NONE;
        for (int i = 1; i + 1 < arguments.argumentCount(); i += optionArguments(arguments, i)) {
            if (arguments.argumentIs(i, "BLOCK")) {
                timeout = i + 1;
            }
            if (optionArguments(arguments, i) == NONE) {
                break;
            }
        }
        return timeout;
    }
}
