package io.varve.server.command.value;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.text.GlobPattern;

/** The arguments that SCAN and its relatives share: cursor, MATCH, COUNT, TYPE. Confined to one command. */
public final class ScanCursor {
    private static final int DEFAULT_COUNT = 10;

    private long position;
    private long count = DEFAULT_COUNT;
    private int patternArgument;
    private int typeArgument;
    private boolean noValues;

    private ScanCursor() {}

    /** Reads the cursor at an argument; null after an error was replied. */
    public static @org.jspecify.annotations.Nullable ScanCursor read(CommandContext context, int argument) {
        ScanCursor cursor = new ScanCursor();
        if (!cursor.parse(context.argumentAddress(argument), context.argumentLength(argument))) {
            context.reply().error("ERR invalid cursor");
            return null;
        }
        return cursor;
    }

    /** Parses an unsigned 64-bit number like C's strtoul: a sign is allowed, and so is the empty string. */
    private boolean parse(long address, int length) {
        int from = length > 0 && (Memory.getByte(address) == '-' || Memory.getByte(address) == '+') ? 1 : 0;
        if (from == 1 && length == 1) {
            return false;
        }
        long value = 0;
        for (int i = from; i < length; i++) {
            int digit = Memory.getByte(address + i) - '0';
            if (digit < 0 || digit > 9 || Long.compareUnsigned(value, Long.divideUnsigned(-1 - digit, 10)) > 0) {
                return false;
            }
            value = value * 10 + digit;
        }
        position = from == 1 && Memory.getByte(address) == '-' ? -value : value;
        return true;
    }

    /**
     * Reads the options.
     *
     * @param typed whether TYPE is an option
     * @return false after an error was replied
     */
    public boolean readOptions(CommandContext context, int from, boolean typed) {
        return readOptions(context, from, typed, false);
    }

    /**
     * Reads the options.
     *
     * @param typed whether TYPE is an option
     * @param valued whether NOVALUES is an option
     * @return false after an error was replied
     */
    public boolean readOptions(CommandContext context, int from, boolean typed, boolean valued) {
        int arguments = context.argumentCount();
        for (int i = from; i < arguments; i++) {
            boolean more = i + 1 < arguments;
            if (more && context.argumentIs(i, "COUNT")) {
                if (!context.requireLong(i + 1)) {
                    return false;
                }
                count = context.longValue();
                i++;
                if (count < 1) {
                    context.syntaxError();
                    return false;
                }
            } else if (more && context.argumentIs(i, "MATCH")) {
                patternArgument = ++i;
            } else if (more && typed && context.argumentIs(i, "TYPE")) {
                typeArgument = ++i;
            } else if (context.argumentIs(i, "NOVALUES")) {
                if (!valued) {
                    context.reply().error("ERR NOVALUES option can only be used in HSCAN");
                    return false;
                }
                noValues = true;
            } else {
                context.syntaxError();
                return false;
            }
        }
        if (patternArgument != 0 && GlobPattern.matchesAll(context.argumentAddress(patternArgument),
                context.argumentLength(patternArgument))) {
            patternArgument = 0;
        }
        return true;
    }

    /** Whether hash fields are requested without their values. */
    public boolean noValues() {
        return noValues;
    }

    /** The position at which the scan continues; 0 at the start. */
    public long position() {
        return position;
    }

    /** COUNT, at least 1 and clamped to an int. */
    public int count() {
        return (int) Math.min(count, Integer.MAX_VALUE);
    }

    /** The argument with the pattern; 0 if every key matches. */
    public int patternArgument() {
        return patternArgument;
    }

    /** Whether a name matches the pattern. */
    public boolean matches(CommandContext context, long address, int length) {
        return patternArgument == 0 || GlobPattern.matches(context.argumentAddress(patternArgument),
                context.argumentLength(patternArgument), address, length);
    }

    /** The argument with the TYPE; 0 if there is none. */
    public int typeArgument() {
        return typeArgument;
    }
}
