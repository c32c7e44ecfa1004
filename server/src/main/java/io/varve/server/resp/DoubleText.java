package io.varve.server.resp;

import java.math.BigInteger;

import io.varve.memory.offheap.Memory;

/**
 * Formats doubles as Redis does: like C's {@code %.17g}, so that every one reads back as the same number. Immutable:
 * static methods only.
 *
 * <p>The 17 digits of a number {@code m * 2^e} result from a multiplication with the right power of ten, rounded half
 * to even. The powers of ten have 128 bits, truncated; those from 0 to 55 are exact. The product has 192 bits: the
 * digits and more than 64 bits after them. The truncated bits can decide only if all of those are ones. In that case,
 * which practically never occurs, the number is formatted through a {@link java.math.BigDecimal}.
 *
 * @see DoubleReader
 */
public final class DoubleText {
    /** Maximum length of a text. */
    public static final int MAX_CHARS = 24;

    private static final int DIGITS = 17;
    private static final long LIMIT = 100_000_000_000_000_000L;
    /** Integers below this have at most 17 digits, and no exponent. */
    private static final double MAX_INTEGER = 1e17;
    private static final int MIN_FIXED_EXPONENT = -4;
    private static final double MAX_FIXED = 1e14;
    private static final int DECIMALS = 10_000;
    private static final double LOG10_OF_2 = 0.30102999566398120;

    private static final int MANTISSA_BITS = 52;
    private static final int EXPONENT_BIAS = 1075;
    private static final int EXPONENT_MASK = 0x7FF;

    private static final int MIN_POWER = DIGITS - 1 - 309;
    private static final int MAX_POWER = DIGITS - 1 + 324;
    private static final int MAX_EXACT_POWER = 55;
    private static final int POWER_BITS = 128;
    private static final long[] POWER_HIGH = new long[MAX_POWER - MIN_POWER + 1];
    private static final long[] POWER_LOW = new long[MAX_POWER - MIN_POWER + 1];
    private static final int[] POWER_EXPONENT = new int[MAX_POWER - MIN_POWER + 1];

    static {
        for (int power = MIN_POWER; power <= MAX_POWER; power++) {
            BigInteger ten = BigInteger.TEN.pow(Math.abs(power));
            int exponent;
            BigInteger mantissa;
            if (power >= 0) {
                exponent = ten.bitLength() - POWER_BITS;
                mantissa = ten.shiftRight(exponent);
            } else {
                // No power of ten is a power of two, so the quotient has exactly this many bits.
                exponent = -(POWER_BITS - 1 + ten.bitLength());
                mantissa = BigInteger.ONE.shiftLeft(-exponent).divide(ten);
            }
            assert mantissa.bitLength() == POWER_BITS : power;
            POWER_HIGH[power - MIN_POWER] = mantissa.shiftRight(Long.SIZE).longValue();
            POWER_LOW[power - MIN_POWER] = mantissa.longValue();
            POWER_EXPONENT[power - MIN_POWER] = exponent;
        }
    }

    private DoubleText() {}

    /**
     * Writes the text of a number, at most {@link #MAX_CHARS}.
     *
     * @return the number of bytes written
     */
    public static int put(long address, double value) {
        if (value == Math.rint(value) && Math.abs(value) < MAX_INTEGER && (value != 0 || 1 / value > 0)) {
            return Numbers.putLong(address, (long) value);
        }
        long at = address;
        if (Double.doubleToRawLongBits(value) < 0) {
            Memory.putByte(at++, (byte) '-');
        }
        double magnitude = Math.abs(value);
        if (!(magnitude <= Double.MAX_VALUE) || magnitude == 0) {
            return (int) (putAscii(at, magnitude == 0 ? "0" : Double.isNaN(value) ? "nan" : "inf") - address);
        }
        int exponent = (int) Math.floor(binaryExponent(magnitude) * LOG10_OF_2);
        long digits = digits(magnitude, exponent);
        if (digits >= LIMIT) {
            // The estimate was one too low, or rounding reached the next power of ten.
            exponent++;
            digits = digits(magnitude, exponent);
        }
        return (int) (putDigits(at, digits, exponent) - address);
    }

    /**
     * Writes a non-negative number below ten to the 14th with four decimals, like C's {@code %.4f}: rounded to nearest,
     * half to even.
     *
     * @return the number of bytes written, at most {@link #MAX_CHARS}
     */
    public static int putFourDecimals(long address, double value) {
        assert value >= 0 && value < MAX_FIXED : value;
        long whole = (long) value;
        double fraction = value - whole;
        // The sum of both is exactly ten thousand times the fraction.
        double scaled = fraction * DECIMALS;
        double rest = Math.fma(fraction, DECIMALS, -scaled);
        long decimals = (long) scaled;
        double behind = scaled - decimals;
        if (behind > 0.5 || behind == 0.5 && (rest > 0 || rest == 0 && (decimals & 1) == 1)) {
            decimals++;
        }
        if (decimals == DECIMALS) {
            whole++;
            decimals = 0;
        }
        int length = Numbers.putLong(address, whole);
        // A one in front preserves leading zeros.
        Numbers.putLong(address + length, DECIMALS + decimals);
        Memory.putByte(address + length, (byte) '.');
        return length + 5;
    }

    private static int binaryExponent(double magnitude) {
        return magnitude >= Double.MIN_NORMAL
                ? Math.getExponent(magnitude)
                : Long.SIZE - Long.numberOfLeadingZeros(Double.doubleToRawLongBits(magnitude)) - EXPONENT_BIAS;
    }

    /** The number times ten to the {@code 16 - exponent}, rounded: 17 digits, or 18 if the exponent is one too low. */
    private static long digits(double magnitude, int exponent) {
        long bits = Double.doubleToRawLongBits(magnitude);
        int biased = (int) (bits >>> MANTISSA_BITS) & EXPONENT_MASK;
        long fraction = bits & (1L << MANTISSA_BITS) - 1;
        long mantissa = biased == 0 ? fraction : fraction | 1L << MANTISSA_BITS;
        int zeros = Long.numberOfLeadingZeros(mantissa);
        long m = mantissa << zeros;
        int power = DIGITS - 1 - exponent;
        int index = power - MIN_POWER;
        int shift = -(Math.max(biased, 1) - EXPONENT_BIAS - zeros + POWER_EXPONENT[index]) - 2 * Long.SIZE;
        long low = POWER_LOW[index];
        long high = POWER_HIGH[index];
        long bottom = m * low;
        long carried = Math.unsignedMultiplyHigh(m, low);
        long middle = m * high + carried;
        long top = Math.unsignedMultiplyHigh(m, high) + (Long.compareUnsigned(middle, carried) < 0 ? 1 : 0);
        assert shift > 0 && shift < Long.SIZE : magnitude;
        long rest = top & (1L << shift) - 1;
        long half = 1L << shift - 1;
        long whole = top >>> shift;
        if (rest != half) {
            boolean unsure = rest == half - 1 && middle == -1 && !isExact(power);
            return unsure ? exactDigits(magnitude, power) : rest > half ? whole + 1 : whole;
        }
        // A tie only if nothing follows, including the truncated bits of the power.
        boolean tie = middle == 0 && bottom == 0 && isExact(power);
        return tie ? whole + (whole & 1) : whole + 1;
    }

    private static boolean isExact(int power) {
        return power >= 0 && power <= MAX_EXACT_POWER;
    }

    static long exactDigits(double magnitude, int power) {
        return new java.math.BigDecimal(magnitude).scaleByPowerOfTen(power)
                .setScale(0, java.math.RoundingMode.HALF_EVEN).longValueExact();
    }

    /** Writes 17 digits without trailing zeros; the first digit stands for ten to the {@code exponent}. */
    private static long putDigits(long address, long digits, int exponent) {
        long significant = digits;
        int count = DIGITS;
        while (significant % 10 == 0) {
            significant /= 10;
            count--;
        }
        if (exponent < MIN_FIXED_EXPONENT || exponent >= DIGITS) {
            return putExponent(putPointed(address, significant, count, 1), exponent);
        }
        if (exponent >= 0) {
            return putPointed(address, significant, count, exponent + 1);
        }
        long at = putAscii(address, "0.");
        for (int i = exponent + 1; i < 0; i++) {
            Memory.putByte(at++, (byte) '0');
        }
        return at + Numbers.putLong(at, significant);
    }

    /** Writes digits with a point after the first {@code whole} of them, padded with zeros if there are fewer. */
    private static long putPointed(long address, long significant, int count, int whole) {
        if (count <= whole) {
            long at = address + Numbers.putLong(address, significant);
            for (int i = count; i < whole; i++) {
                Memory.putByte(at++, (byte) '0');
            }
            return at;
        }
        Numbers.putLong(address, significant);
        long point = address + whole;
        Memory.copy(point, point + 1, count - whole);
        Memory.putByte(point, (byte) '.');
        return address + count + 1;
    }

    private static long putExponent(long address, int exponent) {
        Memory.putByte(address, (byte) 'e');
        Memory.putByte(address + 1, (byte) (exponent < 0 ? '-' : '+'));
        long at = address + 2;
        int magnitude = Math.abs(exponent);
        if (magnitude < 10) {
            Memory.putByte(at++, (byte) '0');
        }
        return at + Numbers.putLong(at, magnitude);
    }

    private static long putAscii(long address, String text) {
        for (int i = 0; i < text.length(); i++) {
            Memory.putByte(address + i, (byte) text.charAt(i));
        }
        return address + text.length();
    }
}
