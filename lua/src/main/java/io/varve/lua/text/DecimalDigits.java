package io.varve.lua.text;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;

/**
 * The decimal digits of a positive number, rounded half to even from its exact value. Immutable.
 * <p>
 * The shortest text that reads as the same number, which the JDK knows, has up to 17 digits. It also tells the digits
 * of a text with at most 15 digits: either it is the same text with zeros, or one rounds it. It only fails where it
 * ends in the middle between two texts, for it may be above or below the exact value. Then, and for more than 15
 * digits, the exact value is computed.
 */
final class DecimalDigits {
    private static final int SAFE_DIGITS = 15;
    private static final double MAX_LONG = 9.2e18;
    private static final DecimalDigits ZERO = new DecimalDigits(new byte[0], 0, 0);

    private final byte[] digits;
    private final int count;
    private final int exponent;

    private DecimalDigits(byte[] digits, int count, int exponent) {
        this.digits = digits;
        this.count = count;
        this.exponent = exponent;
    }

    /** The number rounded to {@code significant} digits, at least one. */
    static DecimalDigits significant(double number, int significant) {
        if (number == 0) {
            return ZERO;
        }
        DecimalDigits whole = whole(number);
        if (whole != null && whole.count <= significant) {
            return whole;
        }
        if (significant <= SAFE_DIGITS && number >= Double.MIN_NORMAL) {
            DecimalDigits rounded = shortest(number).round(significant);
            if (rounded != null) {
                return rounded;
            }
        }
        BigDecimal exact = new BigDecimal(number).round(new MathContext(significant, RoundingMode.HALF_EVEN));
        return of(exact);
    }

    /** The number rounded to {@code places} digits after the point. */
    static DecimalDigits places(double number, int places) {
        if (number == 0) {
            return ZERO;
        }
        DecimalDigits whole = whole(number);
        if (whole != null) {
            return whole;
        }
        if (number >= Double.MIN_NORMAL) {
            DecimalDigits shortest = shortest(number);
            int significant = shortest.exponent + 1 + places;
            if (significant > 0 && significant <= SAFE_DIGITS) {
                DecimalDigits rounded = shortest.round(significant);
                if (rounded != null) {
                    return rounded;
                }
            }
        }
        BigDecimal exact = new BigDecimal(number).setScale(places, RoundingMode.HALF_EVEN);
        return exact.signum() == 0 ? ZERO : of(exact);
    }

    /** The power of ten of the first digit. */
    int exponent() {
        return exponent;
    }

    /** The digit, as a character, that stands for this power of ten. */
    int digitAt(int power) {
        int index = exponent - power;
        return index < 0 || index >= count ? '0' : digits[index];
    }

    /** The lowest power of ten whose digit is not zero. */
    int lowestPower() {
        int last = count - 1;
        while (last > 0 && digits[last] == '0') {
            last--;
        }
        return exponent - Math.max(last, 0);
    }

    private static @org.jspecify.annotations.Nullable DecimalDigits whole(double number) {
        if (number >= MAX_LONG || number != (long) number) {
            return null;
        }
        byte[] digits = new byte[19];
        int start = digits.length;
        for (long rest = (long) number; rest != 0; rest /= 10) {
            digits[--start] = (byte) ('0' + rest % 10);
        }
        int count = digits.length - start;
        System.arraycopy(digits, start, digits, 0, count);
        return new DecimalDigits(digits, count, count - 1);
    }

    private static DecimalDigits of(BigDecimal rounded) {
        byte[] digits = rounded.unscaledValue().toString().getBytes(StandardCharsets.ISO_8859_1);
        return new DecimalDigits(digits, digits.length, digits.length - 1 - rounded.scale());
    }

    /** The digits of the shortest decimal that reads as this number, without zeros at either end. */
    private static DecimalDigits shortest(double number) {
        String text = Double.toString(number);
        int length = text.length();
        int end = text.indexOf('E');
        int power = end < 0 ? 0 : Integer.parseInt(text, end + 1, length, 10);
        if (end < 0) {
            end = length;
        }
        byte[] digits = new byte[end];
        int count = 0;
        int exponent = 0;
        int point = text.indexOf('.');
        for (int i = 0; i < end; i++) {
            char c = text.charAt(i);
            if (i == point || c == '0' && count == 0) {
                continue;
            }
            if (count == 0) {
                exponent = (i < point ? point - 1 - i : point - i) + power;
            }
            digits[count++] = (byte) c;
        }
        while (digits[count - 1] == '0') {
            count--;
        }
        return new DecimalDigits(digits, count, exponent);
    }

    /** This number with fewer digits, or null if it is exactly in the middle. */
    private @org.jspecify.annotations.Nullable DecimalDigits round(int significant) {
        if (count <= significant) {
            return this;
        }
        byte first = digits[significant];
        if (first == '5' && count == significant + 1) {
            return null;
        }
        if (first < '5') {
            return new DecimalDigits(digits, significant, exponent);
        }
        int last = significant - 1;
        while (last >= 0 && digits[last] == '9') {
            last--;
        }
        if (last < 0) {
            digits[0] = '1';
            return new DecimalDigits(digits, 1, exponent + 1);
        }
        digits[last]++;
        return new DecimalDigits(digits, last + 1, exponent);
    }
}
