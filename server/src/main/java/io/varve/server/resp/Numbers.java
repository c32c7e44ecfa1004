package io.varve.server.resp;

import io.varve.memory.offheap.Memory;

/** Parses and formats numbers as Redis does, in native memory. Immutable: static methods only. */
public final class Numbers {
    /** Maximum length of a long in decimal form, including its sign. */
    public static final int MAX_LONG_CHARS = 20;

    private static final long[] POWERS = new long[19];

    static {
        long power = 1;
        for (int i = 0; i < POWERS.length; i++) {
            POWERS[i] = power;
            power *= 10;
        }
    }

    private static final int MAX_SMALL_DIGITS = 9;

    private Numbers() {}

    /**
     * Whether the bytes are a 64-bit integer in its only canonical form: no sign but a leading minus, no leading zero,
     * no blank, in range.
     */
    public static boolean isLong(long address, int length) {
        if (length <= 0 || length > MAX_LONG_CHARS) {
            return false;
        }
        byte first = Memory.getByte(address);
        if (length == 1) {
            return isDigit(first);
        }
        boolean negative = first == '-';
        int i = negative ? 1 : 0;
        byte lead = Memory.getByte(address + i);
        if (lead < '1' || lead > '9') {
            return false;
        }
        int digits = length - i;
        if (digits > 19) {
            return false;
        }
        for (int j = i + 1; j < length; j++) {
            if (!isDigit(Memory.getByte(address + j))) {
                return false;
            }
        }
        if (digits < 19) {
            return true;
        }
        long magnitude = magnitude(address + i, digits);
        // 19 digits reach 9.99e18: above Long.MAX_VALUE the sum has wrapped to a negative number.
        return magnitude >= 0 || negative && magnitude == Long.MIN_VALUE;
    }

    /** The value of one to nine digits in canonical form, the most common numbers; -1 for other bytes. */
    public static long smallNatural(long address, int length) {
        if (length <= 0 || length > MAX_SMALL_DIGITS) {
            return -1;
        }
        int value = Memory.getByte(address) - '0';
        // A single zero digit is valid; before further digits it is a leading zero.
        if (value < (length == 1 ? 0 : 1) || value > 9) {
            return -1;
        }
        for (int i = 1; i < length; i++) {
            int digit = Memory.getByte(address + i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            value = value * 10 + digit;
        }
        return value;
    }

    /** The value of bytes for which {@link #isLong} holds. */
    public static long toLong(long address, int length) {
        boolean negative = Memory.getByte(address) == '-';
        int i = negative ? 1 : 0;
        long magnitude = magnitude(address + i, length - i);
        return negative ? -magnitude : magnitude;
    }

    private static long magnitude(long address, int digits) {
        long value = 0;
        for (int i = 0; i < digits; i++) {
            value = value * 10 + (Memory.getByte(address + i) - '0');
        }
        return value;
    }

    private static boolean isDigit(byte b) {
        return b >= '0' && b <= '9';
    }

    /** Number of characters that {@link #putLong} writes. */
    public static int longChars(long value) {
        if (value == Long.MIN_VALUE) {
            return 20;
        }
        long magnitude = Math.abs(value);
        int digits = 1;
        while (digits < 19 && magnitude >= POWERS[digits]) {
            digits++;
        }
        return value < 0 ? digits + 1 : digits;
    }

    /**
     * Writes the decimal form.
     *
     * @return the number of bytes written, at most {@link #MAX_LONG_CHARS}
     */
    public static int putLong(long address, long value) {
        int chars = longChars(value);
        long at = address + chars;
        // The negative range reaches one further than the positive one, so digits are taken from the negative side.
        long rest = value < 0 ? value : -value;
        do {
            long quotient = rest / 10;
            Memory.putByte(--at, (byte) ('0' + (quotient * 10 - rest)));
            rest = quotient;
        } while (rest != 0);
        if (value < 0) {
            Memory.putByte(address, (byte) '-');
        }
        return chars;
    }
}
