package io.varve.server.resp;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * Finds complete commands in memory: arrays of bulk strings, as logs and streams of changes have them. Confined to one
 * thread. Unlike {@link RequestDecoder} it needs all bytes of a command, in one piece, and copies none.
 */
public final class CommandScanner {
    /** {@link #skip} returns it if the command goes on behind the end. */
    public static final long INCOMPLETE = -1;
    /** {@link #skip} returns it if there is something else than a command. */
    public static final long MALFORMED = -2;

    private static final int MAX_DIGITS = 10;
    private static final int KEPT_ARGUMENTS = 16;
    private static final int CASE_BIT = 0x20;
    private static final int MAX_SHOWN = 64;

    private long number;
    private long end;
    /** The arguments of the command that was passed, if they are few. */
    private final long[] arguments = new long[KEPT_ARGUMENTS];
    private final int[] lengths = new int[KEPT_ARGUMENTS];
    private int count;

    /**
     * Passes a command.
     *
     * @param address where it begins
     * @param limit the end of the readable bytes
     * @return the address after it, or {@link #INCOMPLETE} or {@link #MALFORMED}
     */
    public long skip(long address, long limit) {
        end = limit;
        long i = number('*', address);
        if (i < 0) {
            return i;
        }
        if (number < 1 || number > Integer.MAX_VALUE) {
            return MALFORMED;
        }
        count = (int) number;
        for (int argument = 0; argument < count; argument++) {
            i = number('$', i);
            if (i < 0) {
                return i;
            }
            if (number > Integer.MAX_VALUE) {
                return MALFORMED;
            }
            if (number > end - i - 2) {
                return INCOMPLETE;
            }
            if (argument < KEPT_ARGUMENTS) {
                arguments[argument] = i;
                lengths[argument] = (int) number;
            }
            i += number;
            if (Memory.getByte(i) != '\r' || Memory.getByte(i + 1) != '\n') {
                return MALFORMED;
            }
            i += 2;
        }
        return i;
    }

    /** Reads a letter, a {@link #number} and a line end. @return the address after them, or a negative number */
    private long number(char letter, long from) {
        if (from >= end) {
            return INCOMPLETE;
        }
        if (Memory.getByte(from) != letter) {
            return MALFORMED;
        }
        long value = 0;
        long i = from + 1;
        for (; i < end && Memory.getByte(i) != '\r'; i++) {
            int digit = Memory.getByte(i) - '0';
            if (digit < 0 || digit > 9 || i - from > MAX_DIGITS) {
                return MALFORMED;
            }
            value = value * 10 + digit;
        }
        if (i + 1 >= end) {
            return INCOMPLETE;
        }
        number = value;
        return Memory.getByte(i + 1) == '\n' && i > from + 1 ? i + 2 : MALFORMED;
    }

    /**
     * Whether the command that was passed has a name.
     *
     * @param name in capitals
     */
    public boolean isNamed(String name) {
        if (lengths[0] != name.length()) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            if ((Memory.getByte(arguments[0] + i) & ~CASE_BIT) != name.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** The address of the name of the command that was passed. */
    public long nameAddress() {
        return arguments[0];
    }

    public int nameLength() {
        return lengths[0];
    }

    /** The name of the command that was passed, or the beginning of a very long one. */
    public String name() {
        return new String(Memory.toArray(arguments[0], Math.min(lengths[0], MAX_SHOWN)), StandardCharsets.ISO_8859_1);
    }

    /** Hands over the command that was passed. */
    public void give(RequestSink sink) {
        sink.beginRequest(count);
        long i = 0;
        for (int argument = 0; argument < count; argument++) {
            if (argument < KEPT_ARGUMENTS) {
                i = arguments[argument];
                number = lengths[argument];
            } else {
                i = number('$', i);
            }
            sink.argument(i, (int) number);
            i += number + 2;
        }
        sink.endRequest(Shortage.NONE);
    }
}
