package io.varve.lua.text;

/** Conversions between numbers as C programs do them on a 64-bit machine, where Java's differ. Stateless. */
public final class CNumbers {
    private static final double TWO_63 = 0x1p63;

    private CNumbers() {}

    /** {@code (long) number}: NaN and what is out of range become the smallest integer. */
    public static long toLong(double number) {
        return number >= -TWO_63 && number < TWO_63 ? (long) number : Long.MIN_VALUE;
    }

    /** {@code (int) (long) number}, as Lua's {@code luaL_checkint} converts: the low 32 bits. */
    public static int toInt(double number) {
        return (int) toLong(number);
    }

    /** {@code (int) number}: NaN and what is out of range become the smallest integer. */
    public static int toIntDirectly(double number) {
        return number > Integer.MIN_VALUE - 1.0 && number < 0x1p31 ? (int) number : Integer.MIN_VALUE;
    }

    /** {@code (unsigned long) number}: a negative number wraps, what is too large becomes 0. */
    public static long toUnsignedLong(double number) {
        return number >= TWO_63 ? toLong(number - TWO_63) ^ Long.MIN_VALUE : toLong(number);
    }

    /** The number that 64 bits without a sign stand for. */
    public static double ofUnsigned(long bits) {
        if (bits >= 0) {
            return bits;
        }
        // Halves the number; the lost bit still decides the rounding.
        return (double) (bits >>> 1 | bits & 1) * 2;
    }
}
