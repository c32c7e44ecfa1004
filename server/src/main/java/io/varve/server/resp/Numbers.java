package io.varve.server.resp;

import io.varve.memory.offheap.Memory;

/**
 * Numbers as Redis reads and writes them, in native memory. Immutable: static methods only.
 */
public final class Numbers {
    /** The longest decimal form of a long, with its sign. */
    public static final int MAX_LONG_CHARS = 20;

    private static final long[] POWERS = new long[19];

    static {
        long power = 1;
        for (int i = 0; i < POWERS.length; i++) {
            POWERS[i] = power;
            power *= 10;
        }
    }

    private static final int MOST_SMALL_DIGITS = 9;

    private Numbers() {}

    /**
     * Whether the bytes are a 64-bit integer in its one canonical form: no sign but a leading minus, no leading zero, no
     * blank, in range.
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
        // 19 digits reach 9.99e18: past Long.MAX_VALUE the sum has wrapped to a negative number.
        return magnitude >= 0 || negative && magnitude == Long.MIN_VALUE;
    }

    /** The value of one to nine digits in their canonical form, the most common numbers; -1 if the bytes are no such. */
    public static long smallNatural(long address, int length) {
        if (length <= 0 || length > MOST_SMALL_DIGITS) {
            return -1;
        }
        int value = Memory.getByte(address) - '0';
        // Of a single digit zero is fine, of several it leads.
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

    /** How many characters {@link #putLong} writes. */
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
     * @return how many bytes were written, at most {@link #MAX_LONG_CHARS}
     */
    public static int putLong(long address, long value) {
        int chars = longChars(value);
        long at = address + chars;
        // Negative numbers reach one further than positive ones: digits are taken from the negative side.
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

    /**
     * The value of a number in C's notation as Redis's string2d takes it (decimal, exponent, hexadecimal, inf), or NaN if
     * it is none. Blanks around it are refused. Allocates.
     */
    public static double parseDouble(long address, int length) {
        if (length <= 0 || length > 255) {
            return Double.NaN;
        }
        byte[] bytes = Memory.toArray(address, length);
        return parseDouble(new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1));
    }

    /** See {@link #parseDouble(long, int)}. */
    public static double parseDouble(String text) {
        int sign = text.startsWith("-") || text.startsWith("+") ? 1 : 0;
        String body = text.substring(sign);
        boolean negative = text.startsWith("-");
        if (body.equalsIgnoreCase("inf") || body.equalsIgnoreCase("infinity")) {
            return negative ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
        }
        boolean hexadecimal = body.startsWith("0x") || body.startsWith("0X");
        for (int i = 0; i < body.length(); i++) {
            char c = body.charAt(i);
            boolean digit = c >= '0' && c <= '9' || c == '.';
            boolean exponent = c == 'e' || c == 'E' || c == '+' || c == '-';
            boolean hex = hexadecimal && (c == 'x' || c == 'X' || c == 'p' || c == 'P' || Character.digit(c, 16) >= 0);
            if (!digit && !exponent && !hex) {
                return Double.NaN;
            }
        }
        if (hexadecimal && body.indexOf('p') < 0 && body.indexOf('P') < 0) {
            body = body + "p0";
        }
        try {
            double value = Double.parseDouble(body);
            return Double.isInfinite(value) ? Double.NaN : negative ? -value : value;
        } catch (NumberFormatException notANumber) {
            // The contract: NaN says that it is none.
            return Double.NaN;
        }
    }

    /** A double as Redis 7.2 writes it: the shortest digits that read back as the same number. */
    public static String format(double value) {
        if (Double.isNaN(value)) {
            return "nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        if (value == 0) {
            return 1 / value < 0 ? "-0" : "0";
        }
        if (value == Math.rint(value) && Math.abs(value) < 1e17) {
            return Long.toString((long) value);
        }
        java.math.BigDecimal shortest = new java.math.BigDecimal(Double.toString(value)).stripTrailingZeros();
        int exponent = shortest.precision() - shortest.scale() - 1;
        if (exponent >= -7 && exponent < 21) {
            return shortest.toPlainString();
        }
        String digits = shortest.unscaledValue().abs().toString();
        StringBuilder text = new StringBuilder(32);
        if (value < 0) {
            text.append('-');
        }
        text.append(digits.charAt(0));
        if (digits.length() > 1) {
            text.append('.').append(digits, 1, digits.length());
        }
        return text.append('e').append(exponent < 0 ? '-' : '+').append(Math.abs(exponent)).toString();
    }
}
