package io.varve.server.command.value;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.text.GlobPattern;

/**
 * The arguments that SCAN and its relatives share: cursor, MATCH, COUNT, TYPE. Confined to one command.
 */
public final class ScanCursor {
    private static final int DEFAULT_COUNT = 10;

    private long position;
    private long count = DEFAULT_COUNT;
    private int patternArgument;
    private int typeArgument;
    private boolean noValues;

    private ScanCursor() {}

    /** Reads the cursor at an argument; null after an error was replied. */
    public static @org.jspecify.annotations.Nullable ScanCursor read(Invocation call, int argument) {
        ScanCursor cursor = new ScanCursor();
        if (!cursor.parse(call.argumentAddress(argument), call.argumentLength(argument))) {
            call.reply().error("ERR invalid cursor");
            return null;
        }
        return cursor;
    }

    /** An unsigned 64-bit number as C's strtoul takes it: a sign is allowed, and so is nothing at all. */
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
     * @param typed whether TYPE is one of them
     * @return false after an error was replied
     */
    public boolean readOptions(Invocation call, int from, boolean typed) {
        return readOptions(call, from, typed, false);
    }

    /**
     * The same.
     *
     * @param valued whether NOVALUES is one of them
     */
    public boolean readOptions(Invocation call, int from, boolean typed, boolean valued) {
        int arguments = call.argumentCount();
        for (int i = from; i < arguments; i++) {
            boolean more = i + 1 < arguments;
            if (more && call.argumentIs(i, "COUNT")) {
                if (!call.requireLong(i + 1)) {
                    return false;
                }
                count = call.longValue();
                i++;
                if (count < 1) {
                    call.syntaxError();
                    return false;
                }
            } else if (more && call.argumentIs(i, "MATCH")) {
                patternArgument = ++i;
            } else if (more && typed && call.argumentIs(i, "TYPE")) {
                typeArgument = ++i;
            } else if (call.argumentIs(i, "NOVALUES")) {
                if (!valued) {
                    call.reply().error("ERR NOVALUES option can only be used in HSCAN");
                    return false;
                }
                noValues = true;
            } else {
                call.syntaxError();
                return false;
            }
        }
        if (patternArgument != 0 && GlobPattern.matchesAll(call.argumentAddress(patternArgument),
                call.argumentLength(patternArgument))) {
            patternArgument = 0;
        }
        return true;
    }

    /** Whether the fields of a hash are asked for without their values. */
    public boolean noValues() {
        return noValues;
    }

    /** Where the scan goes on; 0 at the start. */
    public long position() {
        return position;
    }

    /** COUNT, at least 1 and cut to what an int holds. */
    public int count() {
        return (int) Math.min(count, Integer.MAX_VALUE);
    }

    /** The argument with the pattern; 0 if every key matches. */
    public int patternArgument() {
        return patternArgument;
    }

    /** Whether a name is one that is asked for. */
    public boolean matches(Invocation call, long address, int length) {
        return patternArgument == 0 || GlobPattern.matches(call.argumentAddress(patternArgument),
                call.argumentLength(patternArgument), address, length);
    }

    /** The argument with the TYPE; 0 if there is none. */
    public int typeArgument() {
        return typeArgument;
    }
}
