package io.varve.lua.text;

import java.util.Locale;

/**
 * Reads numbers as C's {@code strtod} does: decimal, hexadecimal, {@code inf} and {@code nan}. Stateless.
 */
public final class NumberParser {
    /** Digits beyond these, of which one is enough, cannot change the rounding of a number. */
    private static final int MAX_DIGITS = 800;
    private static final int MAX_HEX_DIGITS = 15;
    private static final long MAX_EXPONENT = 1_000_000_000_000L;
    private static final int EXACT_POWER = 22;
    private static final double[] POWERS = new double[EXACT_POWER + 1];

    static {
        POWERS[0] = 1;
        for (int i = 1; i <= EXACT_POWER; i++) {
            POWERS[i] = POWERS[i - 1] * 10;
        }
    }

    private NumberParser() {}

    /** The end of the number that begins at {@code from}, after spaces; {@code from} if there is none. */
    public static int end(byte[] text, int from, int to) {
        int at = skipSpaces(text, from, to);
        if (at < to && (text[at] == '-' || text[at] == '+')) {
            at++;
        }
        int end = endOfUnsigned(text, at, to);
        return end == at ? from : end;
    }

    /** The number that stands in {@code from} to {@code end}, as {@link #end} has found it. */
    public static double value(byte[] text, int from, int end) {
        int at = skipSpaces(text, from, end);
        boolean negative = text[at] == '-';
        if (negative || text[at] == '+') {
            at++;
        }
        double number;
        int first = text[at] | 0x20;
        if (first == 'i') {
            number = Double.POSITIVE_INFINITY;
        } else if (first == 'n') {
            number = Double.longBitsToDouble(0x7ff8000000000000L);
        } else if (text[at] == '0' && at + 1 < end && (text[at + 1] | 0x20) == 'x') {
            number = hexadecimal(text, at + 2, end);
        } else {
            number = decimal(text, at, end);
        }
        return negative ? -number : number;
    }

    /** The index of the first byte that is no space. */
    public static int skipSpaces(byte[] text, int from, int to) {
        int at = from;
        while (at < to && isSpace(text[at])) {
            at++;
        }
        return at;
    }

    /** C's {@code isspace}. */
    public static boolean isSpace(int c) {
        return c == ' ' || c >= '\t' && c <= '\r';
    }

    private static int endOfUnsigned(byte[] text, int from, int to) {
        if (from < to && (text[from] | 0x20) == 'i') {
            return startsWith(text, from, to, "infinity")
                    ? from + 8
                    : startsWith(text, from, to, "inf")
                            ? from + 3
                            : from;
        }
        if (startsWith(text, from, to, "nan")) {
            return endOfNan(text, from + 3, to);
        }
        if (startsWith(text, from, to, "0x")) {
            int end = endOfDigits(text, from + 2, to, true);
            if (end > from + 2) {
                return endOfExponent(text, end, to, 'p');
            }
        }
        int end = endOfDigits(text, from, to, false);
        return end == from ? from : endOfExponent(text, end, to, 'e');
    }

    /** The end of digits with at most one point; {@code from} if there is no digit. */
    private static int endOfDigits(byte[] text, int from, int to, boolean hex) {
        int at = from;
        int digits = 0;
        boolean point = false;
        for (; at < to; at++) {
            if (hex ? Character.digit(text[at], 16) >= 0 : isDigit(text[at])) {
                digits++;
            } else if (text[at] == '.' && !point) {
                point = true;
            } else {
                break;
            }
        }
        return digits == 0 ? from : at;
    }

    private static int endOfExponent(byte[] text, int from, int to, int letter) {
        if (from == to || (text[from] | 0x20) != letter) {
            return from;
        }
        int at = from + 1;
        if (at < to && (text[at] == '-' || text[at] == '+')) {
            at++;
        }
        int first = at;
        while (at < to && isDigit(text[at])) {
            at++;
        }
        return at == first ? from : at;
    }

    private static int endOfNan(byte[] text, int from, int to) {
        if (from == to || text[from] != '(') {
            return from;
        }
        int at = from + 1;
        while (at < to && (isDigit(text[at]) || text[at] == '_'
                || (text[at] | 0x20) >= 'a' && (text[at] | 0x20) <= 'z')) {
            at++;
        }
        return at < to && text[at] == ')' ? at + 1 : from;
    }

    private static boolean startsWith(byte[] text, int from, int to, String lower) {
        if (to - from < lower.length()) {
            return false;
        }
        for (int i = 0; i < lower.length(); i++) {
            char c = lower.charAt(i);
            if (text[from + i] != c && text[from + i] != Character.toUpperCase(c)) {
                return false;
            }
        }
        return true;
    }

    private static boolean isDigit(int c) {
        return c >= '0' && c <= '9';
    }

    private static double decimal(byte[] text, int from, int end) {
        long mantissa = 0;
        int digits = 0;
        long scale = 0;
        boolean point = false;
        int at = from;
        for (; at < end && (isDigit(text[at]) || text[at] == '.'); at++) {
            if (text[at] == '.') {
                point = true;
                continue;
            }
            if (point) {
                scale--;
            }
            if (digits > 0 || text[at] != '0') {
                digits++;
                if (digits <= 18) {
                    mantissa = mantissa * 10 + text[at] - '0';
                }
            }
        }
        if (digits == 0) {
            return 0;
        }
        long power = scale + exponent(text, at, end);
        if (digits <= 18 && mantissa <= 1L << 53 && Math.abs(power) <= EXACT_POWER) {
            return power < 0 ? mantissa / POWERS[(int) -power] : mantissa * POWERS[(int) power];
        }
        return decimalExactly(text, from, at, digits, power);
    }

    private static double decimalExactly(byte[] text, int from, int end, int digits, long power) {
        StringBuilder kept = new StringBuilder(Math.min(digits, MAX_DIGITS) + 16);
        boolean rest = false;
        for (int at = from; at < end; at++) {
            if (text[at] == '.' || kept.isEmpty() && text[at] == '0') {
                continue;
            }
            if (kept.length() < MAX_DIGITS) {
                kept.append((char) text[at]);
            } else {
                rest |= text[at] != '0';
            }
        }
        long exponent = power + digits - kept.length();
        if (rest) {
            kept.append('1');
            exponent--;
        }
        long bounded = Math.clamp(exponent, -100_000L, 100_000L);
        return Double.parseDouble(kept.append('e').append(bounded).toString());
    }

    private static double hexadecimal(byte[] text, int from, int end) {
        long mantissa = 0;
        int digits = 0;
        long scale = 0;
        boolean point = false;
        boolean rest = false;
        int at = from;
        for (; at < end && (text[at] | 0x20) != 'p'; at++) {
            if (text[at] == '.') {
                point = true;
                continue;
            }
            int digit = Character.digit(text[at], 16);
            if (digits < MAX_HEX_DIGITS) {
                mantissa = mantissa << 4 | digit;
                digits += mantissa == 0 ? 0 : 1;
                scale -= point ? 4 : 0;
            } else {
                rest |= digit != 0;
                scale += point ? 0 : 4;
            }
        }
        if (mantissa == 0) {
            return 0;
        }
        // One more bit stands for the digits that were cut off: they decide the rounding.
        mantissa = mantissa << 1 | (rest ? 1 : 0);
        long power = Math.clamp(scale - 1 + exponent(text, at, end), -100_000L, 100_000L);
        return Double.parseDouble(String.format(Locale.ROOT, "0x%xp%d", mantissa, power));
    }

    /** The exponent whose letter stands at {@code from}, or 0. */
    private static long exponent(byte[] text, int from, int end) {
        if (from >= end) {
            return 0;
        }
        int at = from + 1;
        boolean negative = text[at] == '-';
        if (negative || text[at] == '+') {
            at++;
        }
        long value = 0;
        for (; at < end; at++) {
            value = Math.min(value * 10 + text[at] - '0', MAX_EXPONENT);
        }
        return negative ? -value : value;
    }
}
