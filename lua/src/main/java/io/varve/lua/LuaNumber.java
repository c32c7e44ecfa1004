package io.varve.lua;

import java.nio.charset.StandardCharsets;

import io.varve.lua.text.NumberParser;
import io.varve.lua.text.Printf;

/** Numbers: boxing, and conversions to and from text as C Lua's. Stateless. */
public final class LuaNumber {
    /** Prints as nan. */
    public static final Double NAN = Double.longBitsToDouble(0x7ff8_0000_0000_0000L);
    /** Prints as -nan: what invalid operations yield on x86, in C and in Java. */
    public static final Double NEGATIVE_NAN = Double.longBitsToDouble(0xfff8_0000_0000_0000L);
    private static final int MIN_CACHED = -128;
    private static final int MAX_CACHED = 1023;
    private static final Double[] CACHE = new Double[MAX_CACHED - MIN_CACHED + 1];
    private static final int SHORT_DIGITS = 14;

    static {
        for (int i = 0; i < CACHE.length; i++) {
            CACHE[i] = (double) (i + MIN_CACHED);
        }
    }

    private LuaNumber() {}

    /** A boxed number; small integers are shared. */
    public static Double box(double value) {
        int integer = (int) value;
        if (integer == value && integer >= MIN_CACHED && integer <= MAX_CACHED
                && (integer != 0 || Double.doubleToRawLongBits(value) == 0)) {
            return CACHE[integer - MIN_CACHED];
        }
        return value;
    }

    /** A boxed integer. */
    public static Double box(int value) {
        return value >= MIN_CACHED && value <= MAX_CACHED ? CACHE[value - MIN_CACHED] : Double.valueOf(value);
    }

    /** A boxed integer; beyond 2^53 it is rounded. */
    public static Double box(long value) {
        return value >= MIN_CACHED && value <= MAX_CACHED ? CACHE[(int) value - MIN_CACHED] : Double.valueOf(value);
    }

    /** A number's text as C's {@code %.14g}, which Lua uses everywhere. */
    public static String toString(double value) {
        return new String(Printf.general(value, SHORT_DIGITS), StandardCharsets.ISO_8859_1);
    }

    /** A number's text as C's {@code %.<precision>g}, without flags. */
    public static String formatG(double value, int precision) {
        return new String(Printf.general(value, precision), StandardCharsets.ISO_8859_1);
    }

    /** The text of a string or a number, for messages; else the name of the type. */
    public static String text(Object value) {
        return value instanceof Double number
                ? toString(number)
                : value instanceof LuaString string ? string.toString() : LuaState.typeName(value);
    }

    /** Lua's conversion of a string to a number, or null. C Lua stops at a zero byte, and so does this. */
    public static Double parse(LuaString string) {
        return parse(string.array(), 0, string.length());
    }

    /** The conversion of a part of some bytes. */
    public static Double parse(byte[] text, int from, int to) {
        int end = NumberParser.end(text, from, to);
        if (end == from) {
            return null;
        }
        int rest = NumberParser.skipSpaces(text, end, to);
        return rest == to || text[rest] == 0 ? box(NumberParser.value(text, from, end)) : null;
    }

    /** A number, or a string that is one, as a number; else null. */
    public static Double toNumber(Object value) {
        return value instanceof Double number ? number : value instanceof LuaString string ? parse(string) : null;
    }

    /** A string, or a number as a string; else null. */
    public static LuaString toLuaString(Object value) {
        return value instanceof LuaString string
                ? string
                : value instanceof Double number ? LuaString.of(Printf.general(number, SHORT_DIGITS)) : null;
    }

    /** C's {@code pow}, also its sign of NaN. */
    public static double power(double base, double exponent) {
        if (base == 1 || exponent == 0) {
            return 1;
        }
        if (exponent == 2) {
            return base * base;
        }
        if (exponent == 0.5 && base >= 0 && base < Double.POSITIVE_INFINITY) {
            return Math.sqrt(base) + 0.0;
        }
        double result = base == -1 && Double.isInfinite(exponent) ? 1 : Math.pow(base, exponent);
        if (!Double.isNaN(result)) {
            return result;
        }
        if (Double.isNaN(base)) {
            // The GNU library negates a NaN with a sign for odd exponents.
            boolean odd = Math.abs(exponent) < 0x1p53 && exponent % 2 != 0 && exponent == Math.rint(exponent);
            return odd ? NAN : base;
        }
        return Double.isNaN(exponent) ? exponent : NEGATIVE_NAN;
    }

    /** C's conversion of a double to a 64-bit integer on x86: what does not fit becomes the smallest integer. */
    public static long toLong(double value) {
        return value >= -0x1p63 && value < 0x1p63 ? (long) value : Long.MIN_VALUE;
    }

    /** C's conversion of a double to a 32-bit integer on x86: what does not fit becomes the smallest integer. */
    public static int toInt(double value) {
        int converted = (int) value;
        return value > -2147483649.0 && value < 2147483648.0 ? converted : Integer.MIN_VALUE;
    }
}
