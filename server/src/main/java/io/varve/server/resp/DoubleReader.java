package io.varve.server.resp;

import io.varve.memory.offheap.Memory;

/**
 * Reads doubles as C's {@code strtod} does: decimal with an exponent, hexadecimal, infinity, not a number. Immutable:
 * static methods only.
 *
 * <p>Numbers of up to 15 digits with a small exponent, which are nearly all, are read without an allocation. Such a
 * number and the power of ten that scales it are both exact, so the single operation rounds correctly.
 *
 * @see DoubleText
 */
public final class DoubleReader {
    private static final int MAX_EXACT_DIGITS = 15;
    private static final double[] EXACT_POWERS = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
            1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    /**
     * Number of digits that can affect the value: no double is nearer to the midpoint of two others, except whether any
     * digit follows.
     */
    private static final int DECIDING_DIGITS = 800;
    private static final int DECIDING_HEX_DIGITS = 32;
    /** An exponent beyond this certainly means zero or infinity, whatever the kept digits are. */
    private static final long MAX_EXPONENT = 100_000;

    private DoubleReader() {}

    /**
     * The value of bytes that are entirely a number, as an argument must be (Redis's string2d); NaN if they are not. A
     * value out of range, or too small to differ from zero, is NaN too.
     */
    public static double parse(long address, int length) {
        int end = end(address, 0, length);
        if (end != length || length == 0) {
            return Double.NaN;
        }
        double value = value(address, 0, length);
        boolean outOfRange = Double.isInfinite(value) && !isWord(address, 0, length, "inf")
                || value == 0 && hasDigits(address, length);
        return outOfRange ? Double.NaN : value;
    }

    /**
     * The value of a bound of a score range, for which Redis accepts the result of {@code strtod}. Leading blanks are
     * skipped, empty text is zero, and bytes after a zero byte are ignored. NaN if it is not a number.
     */
    public static double parseBound(long address, int length) {
        int start = 0;
        while (start < length && isBlank(Memory.getByte(address + start))) {
            start++;
        }
        int end = end(address, start, length);
        if (end == start) {
            return length == 0 || Memory.getByte(address) == 0 ? 0 : Double.NaN;
        }
        if (end < length && Memory.getByte(address + end) != 0) {
            return Double.NaN;
        }
        return value(address, start, end);
    }

    /** The value of a weight for SORT: as {@link #parseBound}, but a value out of range is NaN. */
    public static double parseWeight(long address, int length) {
        double value = parseBound(address, length);
        if (value == 0 || Double.isInfinite(value) || Math.abs(value) < Double.MIN_NORMAL) {
            int start = 0;
            while (start < length && isBlank(Memory.getByte(address + start))) {
                start++;
            }
            boolean outOfRange = Double.isInfinite(value)
                    ? !isWord(address, start, length, "inf")
                    : value != 0 || hasDigits(address + start, length - start);
            return outOfRange ? Double.NaN : value;
        }
        return value;
    }

    // --- extent of a number

    /** The end of the number that begins at {@code start}; {@code start} if none does. */
    private static int end(long address, int start, int length) {
        int from = signed(address, start, length);
        if (isWord(address, start, length, "infinity")) {
            return from + 8;
        }
        if (isWord(address, start, length, "inf")) {
            return from + 3;
        }
        if (isWord(address, start, length, "nan")) {
            return endOfNan(address, from + 3, length);
        }
        if (isHex(address, from, length)) {
            int digits = endOfDigits(address, from + 2, length, 16);
            return endOfExponent(address, digits, length, 'p');
        }
        int digits = endOfDigits(address, from, length, 10);
        return digits == from ? start : endOfExponent(address, digits, length, 'e');
    }

    private static int signed(long address, int start, int length) {
        return start < length && (Memory.getByte(address + start) == '-' || Memory.getByte(address + start) == '+')
                ? start + 1
                : start;
    }

    /** Whether a number, signed or not, begins with a word, ignoring case. */
    private static boolean isWord(long address, int start, int length, String lowerCase) {
        int from = signed(address, start, length);
        if (length - from < lowerCase.length()) {
            return false;
        }
        for (int i = 0; i < lowerCase.length(); i++) {
            if ((Memory.getByte(address + from + i) | 0x20) != lowerCase.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** A bracket with letters, digits and underscores belongs to the word. */
    private static int endOfNan(long address, int from, int length) {
        if (from < length && Memory.getByte(address + from) == '(') {
            for (int i = from + 1; i < length; i++) {
                byte b = Memory.getByte(address + i);
                if (b == ')') {
                    return i + 1;
                }
                if (b != '_' && digit(b, 36) < 0) {
                    break;
                }
            }
        }
        return from;
    }

    /** Whether there is 0x with a digit after it. */
    private static boolean isHex(long address, int from, int length) {
        return length - from > 2 && Memory.getByte(address + from) == '0'
                && (Memory.getByte(address + from + 1) | 0x20) == 'x'
                && endOfDigits(address, from + 2, length, 16) > from + 2;
    }

    /** The end of digits with at most one point among them; {@code from} if there is no digit. */
    private static int endOfDigits(long address, int from, int length, int base) {
        boolean point = false;
        int digits = 0;
        int i = from;
        for (; i < length; i++) {
            byte b = Memory.getByte(address + i);
            if (b == '.' && !point) {
                point = true;
            } else if (digit(b, base) >= 0) {
                digits++;
            } else {
                break;
            }
        }
        return digits == 0 ? from : i;
    }

    private static int endOfExponent(long address, int from, int length, char letter) {
        if (from < length && (Memory.getByte(address + from) | 0x20) == letter) {
            int first = signed(address, from + 1, length);
            int i = first;
            while (i < length && digit(Memory.getByte(address + i), 10) >= 0) {
                i++;
            }
            if (i > first) {
                return i;
            }
        }
        return from;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b >= '\t' && b <= '\r';
    }

    /** The value of a digit, -1 if it is none. */
    private static int digit(byte b, int base) {
        int value = b >= '0' && b <= '9'
                ? b - '0'
                : (b | 0x20) >= 'a' && (b | 0x20) <= 'z' ? (b | 0x20) - 'a' + 10 : -1;
        return value < base ? value : -1;
    }

    private static boolean hasDigits(long address, int length) {
        int from = signed(address, 0, length);
        int base = isHex(address, from, length) ? 16 : 10;
        int i = base == 16 ? from + 2 : from;
        for (; i < length; i++) {
            byte b = Memory.getByte(address + i);
            if (digit(b, base) > 0) {
                return true;
            }
            if (b != '0' && b != '.') {
                return false;
            }
        }
        return false;
    }

    // --- value

    private static double value(long address, int start, int end) {
        int from = signed(address, start, end);
        boolean negative = from > start && Memory.getByte(address + start) == '-';
        double magnitude;
        if (isWord(address, start, end, "inf")) {
            magnitude = Double.POSITIVE_INFINITY;
        } else if (isWord(address, start, end, "nan")) {
            magnitude = Double.NaN;
        } else if (isHex(address, from, end)) {
            magnitude = byDigits(address, from + 2, end, 16, 'p');
        } else {
            magnitude = decimal(address, from, end);
        }
        return negative ? -magnitude : magnitude;
    }

    private static double decimal(long address, int from, int end) {
        long mantissa = 0;
        int digits = 0;
        int scale = 0;
        boolean point = false;
        int i = from;
        for (; i < end; i++) {
            byte b = Memory.getByte(address + i);
            if (b == '.') {
                point = true;
                continue;
            }
            int digit = digit(b, 10);
            if (digit < 0) {
                break;
            }
            if (digits > 0 || digit > 0) {
                digits++;
            }
            if (digits > MAX_EXACT_DIGITS) {
                return byDigits(address, from, end, 10, 'e');
            }
            mantissa = mantissa * 10 + digit;
            scale += point ? 1 : 0;
        }
        long exponent = exponent(address, i, end) - scale;
        if (exponent == 0 || mantissa == 0) {
            return mantissa;
        }
        if (Math.abs(exponent) >= EXACT_POWERS.length) {
            return byDigits(address, from, end, 10, 'e');
        }
        return exponent > 0 ? mantissa * EXACT_POWERS[(int) exponent] : mantissa / EXACT_POWERS[(int) -exponent];
    }

    /** The number after the letter of an exponent, clamped; 0 if there is none. */
    private static long exponent(long address, int letter, int end) {
        if (letter >= end) {
            return 0;
        }
        int from = signed(address, letter + 1, end);
        long value = 0;
        for (int i = from; i < end; i++) {
            // An argument may have any number of leading digits.
            value = Math.min(value * 10 + Memory.getByte(address + i) - '0', 1L << 40);
        }
        return Memory.getByte(address + from - 1) == '-' ? -value : value;
    }

    /** Copies the digits that can affect the value, and lets Java parse them, which rounds correctly too. */
    private static double byDigits(long address, int from, int end, int base, char letter) {
        int max = base == 10 ? DECIDING_DIGITS : DECIDING_HEX_DIGITS;
        StringBuilder digits = new StringBuilder(64);
        long leftOut = 0;
        long behindPoint = 0;
        boolean point = false;
        boolean more = false;
        int i = from;
        for (; i < end; i++) {
            byte b = Memory.getByte(address + i);
            if (b == '.') {
                point = true;
                continue;
            }
            int digit = digit(b, base);
            if (digit < 0) {
                break;
            }
            behindPoint += point ? 1 : 0;
            if (digits.length() < max) {
                if (digit > 0 || !digits.isEmpty()) {
                    digits.append((char) b);
                }
            } else {
                leftOut++;
                more |= digit > 0;
            }
        }
        if (digits.isEmpty()) {
            return 0;
        }
        if (more) {
            digits.append('1');
            leftOut--;
        }
        long shift = leftOut - behindPoint;
        long exponent = exponent(address, i, end) + (base == 10 ? shift : 4 * shift);
        long cut = Math.max(-MAX_EXPONENT, Math.min(MAX_EXPONENT, exponent));
        return Double.parseDouble((base == 10 ? "" : "0x") + digits + letter + cut);
    }
}
