package io.varve.server.command.text;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * A number with the 64 bits of precision of x86's 80-bit {@code long double}, the arithmetic of INCRBYFLOAT and
 * HINCRBYFLOAT. Immutable.
 *
 * <p>Redis reads with {@code strtold}, adds, and writes with {@code %.17Lf} without trailing zeros. Clients store and
 * compare the text, so Varve must produce the same digits. The value is therefore an exact decimal, rounded to 64 bits
 * (to nearest, ties to even) after reading and after adding, as the hardware does.
 */
public record LongDouble(Kind kind, BigDecimal value) {
    /** The kind of a parsed number. */
    public enum Kind {
        FINITE, INFINITE, INVALID
    }

    public static final LongDouble ZERO = new LongDouble(Kind.FINITE, BigDecimal.ZERO);
    static final LongDouble INVALID = new LongDouble(Kind.INVALID, BigDecimal.ZERO);
    static final LongDouble INFINITE = new LongDouble(Kind.INFINITE, BigDecimal.ZERO);

    private static final int PRECISION_BITS = 64;
    /** The largest finite number is just under 2 to this power. */
    private static final int OVERFLOW_BITS = 16384;
    /** The smallest subnormal number is 2 to this power. */
    private static final int UNDERFLOW_BITS = -16445;
    /** Decimal exponent that is certainly out of range, without further calculation. */
    private static final int CERTAIN_DECIMAL_EXPONENT = 5000;
    /** Digits after the point in Redis's text. */
    private static final int WRITTEN_SCALE = 17;
    /** Maximum length of a text that Redis accepts, bytes. */
    private static final int MAX_CHARS = 5 * 1024 - 1;

    /** Parses a text as Redis does: all of it must be a number, which must not underflow to zero. */
    public static LongDouble parse(long address, int length) {
        if (length == 0 || length > MAX_CHARS) {
            return INVALID;
        }
        return parse(new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1));
    }

    static LongDouble parse(String text) {
        boolean negative = text.startsWith("-");
        String body = negative || text.startsWith("+") ? text.substring(1) : text;
        if (body.equalsIgnoreCase("inf") || body.equalsIgnoreCase("infinity")) {
            return INFINITE;
        }
        boolean hexadecimal = body.startsWith("0x") || body.startsWith("0X");
        LongDouble magnitude = hexadecimal ? number(body.substring(2), 16, 'p') : number(body, 10, 'e');
        return negative && magnitude.kind == Kind.FINITE ? finite(magnitude.value.negate()) : magnitude;
    }

    /** Parses digits with at most one point and an optional exponent: decimal in base 10, binary in base 16. */
    private static LongDouble number(String body, int base, char exponentLetter) {
        StringBuilder digits = new StringBuilder(body.length());
        int behindPoint = 0;
        boolean point = false;
        int i = 0;
        for (; i < body.length(); i++) {
            char c = body.charAt(i);
            if (c == '.' && !point) {
                point = true;
            } else if (c < 128 && Character.digit(c, base) >= 0) {
                digits.append(c);
                behindPoint += point ? 1 : 0;
            } else {
                break;
            }
        }
        if (digits.isEmpty()) {
            return INVALID;
        }
        long exponent = 0;
        if (i < body.length()) {
            if (Character.toLowerCase(body.charAt(i)) != exponentLetter) {
                return INVALID;
            }
            exponent = exponent(body, i + 1);
            if (exponent == Long.MIN_VALUE) {
                return INVALID;
            }
        }
        BigInteger mantissa = new BigInteger(digits.toString(), base);
        if (mantissa.signum() == 0) {
            return finite(BigDecimal.ZERO);
        }
        return base == 10 ? decimal(mantissa, exponent - behindPoint) : binary(mantissa, exponent - 4L * behindPoint);
    }

    /** The exponent from {@code from} to the end, clamped to a billion; {@link Long#MIN_VALUE} if it is none. */
    private static long exponent(String body, int from) {
        int i = from;
        boolean negative = i < body.length() && body.charAt(i) == '-';
        if (negative || i < body.length() && body.charAt(i) == '+') {
            i++;
        }
        if (i == body.length()) {
            return Long.MIN_VALUE;
        }
        long value = 0;
        for (; i < body.length(); i++) {
            char c = body.charAt(i);
            if (c < '0' || c > '9') {
                return Long.MIN_VALUE;
            }
            value = Math.min(value * 10 + (c - '0'), 1_000_000_000);
        }
        return negative ? -value : value;
    }

    private static LongDouble decimal(BigInteger mantissa, long exponent) {
        long magnitude = exponent + (long) (mantissa.bitLength() * 0.30103);
        if (magnitude > CERTAIN_DECIMAL_EXPONENT || magnitude < -CERTAIN_DECIMAL_EXPONENT) {
            return INVALID;
        }
        return inRange(round(new BigDecimal(mantissa, (int) -exponent)));
    }

    private static LongDouble binary(BigInteger mantissa, long exponent) {
        long magnitude = exponent + mantissa.bitLength();
        if (magnitude > OVERFLOW_BITS + 1 || magnitude < UNDERFLOW_BITS - 1) {
            return INVALID;
        }
        return inRange(round(exact(mantissa, (int) exponent)));
    }

    /** Rejects a number that overflows, or rounds to zero without being zero. */
    private static LongDouble inRange(BigDecimal value) {
        BigDecimal magnitude = value.abs();
        if (magnitude.compareTo(LIMIT) >= 0 || magnitude.compareTo(TINIEST) <= 0) {
            return INVALID;
        }
        return finite(value);
    }

    private static final BigDecimal LIMIT = exact(BigInteger.ONE, OVERFLOW_BITS);
    /** Half the smallest subnormal number: rounds to zero. */
    private static final BigDecimal TINIEST = exact(BigInteger.ONE, UNDERFLOW_BITS - 1);

    private static LongDouble finite(BigDecimal value) {
        return new LongDouble(Kind.FINITE, value);
    }

    /** The rounded sum; infinite if it overflows or a term is infinite. */
    public LongDouble plus(LongDouble other) {
        if (kind == Kind.INFINITE || other.kind == Kind.INFINITE) {
            return INFINITE;
        }
        BigDecimal sum = round(value.add(other.value));
        return sum.abs().compareTo(LIMIT) >= 0 ? INFINITE : finite(sum);
    }

    /** The text that Redis stores and replies: at most 17 digits after the point, no trailing zeros. */
    public String text() {
        BigDecimal written = value.setScale(WRITTEN_SCALE, RoundingMode.HALF_EVEN);
        return written.signum() == 0 ? "0" : written.stripTrailingZeros().toPlainString();
    }

    /** Rounds to 64 bits. */
    private static BigDecimal round(BigDecimal exact) {
        if (exact.signum() == 0) {
            return BigDecimal.ZERO;
        }
        BigInteger numerator = exact.unscaledValue().abs();
        BigInteger denominator = BigInteger.ONE;
        if (exact.scale() > 0) {
            denominator = BigInteger.TEN.pow(exact.scale());
        } else {
            numerator = numerator.multiply(BigInteger.TEN.pow(-exact.scale()));
        }
        // Computes two or three more bits than it keeps, so that the dropped bits determine the rounding.
        int shift = PRECISION_BITS + 2 - (numerator.bitLength() - denominator.bitLength());
        BigInteger[] parts = shift >= 0
                ? numerator.shiftLeft(shift).divideAndRemainder(denominator)
                : numerator.divideAndRemainder(denominator.shiftLeft(-shift));
        BigInteger quotient = parts[0];
        int drop = quotient.bitLength() - PRECISION_BITS;
        BigInteger kept = quotient.shiftRight(drop);
        BigInteger dropped = quotient.subtract(kept.shiftLeft(drop));
        int half = dropped.compareTo(BigInteger.ONE.shiftLeft(drop - 1));
        boolean tie = half == 0 && parts[1].signum() == 0;
        if (half > 0 || half == 0 && (!tie || kept.testBit(0))) {
            kept = kept.add(BigInteger.ONE);
        }
        BigDecimal rounded = exact(kept, drop - shift);
        return exact.signum() < 0 ? rounded.negate() : rounded;
    }

    /** {@code mantissa} times 2 to the {@code exponent}. */
    private static BigDecimal exact(BigInteger mantissa, int exponent) {
        if (exponent >= 0) {
            return new BigDecimal(mantissa.shiftLeft(exponent));
        }
        int drop = Math.min(-exponent, mantissa.getLowestSetBit());
        int scale = -exponent - drop;
        return new BigDecimal(mantissa.shiftRight(drop).multiply(BigInteger.valueOf(5).pow(scale)), scale);
    }
}
