package io.varve.lua.text;

import java.nio.charset.StandardCharsets;

/**
 * Formats numbers and strings as C's {@code printf} of the GNU library. Stateless.
 * <p>
 * The sign of a NaN is that of its bits: Redis shows {@code -nan} for {@code 0/0} on a machine whose processor yields
 * it so, and so does this class on the same machine.
 */
public final class Printf {
    private static final int GENERAL_PRECISION = 6;
    private static final FormatSpec PLAIN = new FormatSpec(0, 0, -1, 'g');

    private Printf() {}

    /** Appends a number as {@code %.<precision>g}. */
    public static void general(ByteBuilder out, double number, int precision) {
        if (isShortInteger(number, precision)) {
            integer(out, (long) number);
            return;
        }
        if (Double.doubleToRawLongBits(number) < 0) {
            out.append('-');
        }
        if (isFinite(number)) {
            appendGeneral(out, PLAIN, Math.abs(number), precision);
        } else {
            out.append(Double.isNaN(number) ? "nan" : "inf");
        }
    }

    /** The text of a number as {@code %.<precision>g}. */
    public static byte[] general(double number, int precision) {
        if (isShortInteger(number, precision)) {
            return integer((long) number);
        }
        ByteBuilder out = new ByteBuilder(24);
        general(out, number, precision);
        return out.toByteArray();
    }

    /** The decimal text of an integer. */
    public static byte[] integer(long number) {
        long rest = number < 0 ? number : -number;
        byte[] text = new byte[decimalDigits(rest) + (number < 0 ? 1 : 0)];
        writeInteger(text, text.length, rest);
        if (number < 0) {
            text[0] = '-';
        }
        return text;
    }

    /** Appends the decimal text of an integer. */
    public static void integer(ByteBuilder out, long number) {
        if (number >= 0 && number < 10) {
            out.append('0' + (int) number);
        } else {
            out.append(integer(number));
        }
    }

    /** Appends a number as {@code %e}, {@code %E}, {@code %f}, {@code %g} or {@code %G}. */
    public static void real(ByteBuilder out, FormatSpec spec, double number) {
        ByteBuilder body = new ByteBuilder(32);
        double positive = Math.abs(number);
        boolean upper = spec.conversion() < 'a';
        int precision = spec.precision() < 0 ? GENERAL_PRECISION : spec.precision();
        if (!isFinite(number)) {
            String name = Double.isNaN(number) ? "nan" : "inf";
            body.append(upper ? name.toUpperCase(java.util.Locale.ROOT) : name);
        } else if (spec.conversion() == 'f') {
            appendFixed(body, spec, DecimalDigits.places(positive, precision), precision);
        } else if ((spec.conversion() | 0x20) == 'e') {
            appendScientific(body, spec, DecimalDigits.significant(positive, precision + 1), precision);
        } else {
            appendGeneral(body, spec, positive, precision);
        }
        boolean zeros = spec.has(FormatSpec.ZERO) && isFinite(number);
        padNumber(out, spec, sign(spec, Double.doubleToRawLongBits(number) < 0), body, zeros);
    }

    /** Appends an integer as {@code %d} or {@code %i}. */
    public static void signed(ByteBuilder out, FormatSpec spec, long number) {
        String digits = number < 0 ? Long.toUnsignedString(-number) : Long.toString(number);
        appendInteger(out, spec, sign(spec, number < 0), digits, number == 0);
    }

    /** Appends an integer as {@code %u}, {@code %o}, {@code %x} or {@code %X}. */
    public static void unsigned(ByteBuilder out, FormatSpec spec, long number) {
        String prefix = "";
        String digits;
        switch (spec.conversion()) {
            case 'o' -> {
                String octal = Long.toOctalString(number);
                boolean zeroFirst = spec.has(FormatSpec.ALTERNATE) && number != 0
                        && spec.precision() <= octal.length();
                digits = zeroFirst ? "0" + octal : octal;
            }
            case 'x', 'X' -> {
                boolean upper = spec.conversion() == 'X';
                String hex = Long.toHexString(number);
                digits = upper ? hex.toUpperCase(java.util.Locale.ROOT) : hex;
                if (spec.has(FormatSpec.ALTERNATE) && number != 0) {
                    prefix = upper ? "0X" : "0x";
                }
            }
            default -> digits = Long.toUnsignedString(number);
        }
        boolean alternateOctal = spec.conversion() == 'o' && spec.has(FormatSpec.ALTERNATE);
        appendInteger(out, spec, prefix, digits, number == 0 && !alternateOctal);
    }

    /** Appends one character as {@code %c}. */
    public static void character(ByteBuilder out, FormatSpec spec, int character) {
        int padding = spec.width() - 1;
        if (spec.has(FormatSpec.LEFT)) {
            out.append(character).fill(' ', padding);
        } else {
            out.fill(' ', padding).append(character);
        }
    }

    /** Appends a string as {@code %s}: up to its first zero byte. */
    public static void string(ByteBuilder out, FormatSpec spec, byte[] text) {
        int limit = spec.precision() < 0 ? text.length : Math.min(text.length, spec.precision());
        int count = 0;
        while (count < limit && text[count] != 0) {
            count++;
        }
        int padding = spec.width() - count;
        if (spec.has(FormatSpec.LEFT)) {
            out.append(text, 0, count).fill(' ', padding);
        } else {
            out.fill(' ', padding).append(text, 0, count);
        }
    }

    /** Whether the number is an integer, not minus zero, whose digits {@code %.<precision>g} shows all. */
    private static boolean isShortInteger(double number, int precision) {
        long integer = (long) number;
        return integer == number && integer > -100_000_000_000_000L && integer < 100_000_000_000_000L
                && precision >= 14 && (integer != 0 || Double.doubleToRawLongBits(number) == 0);
    }

    private static boolean isFinite(double number) {
        return Math.abs(number) <= Double.MAX_VALUE;
    }

    private static int decimalDigits(long negative) {
        int count = 1;
        for (long rest = negative; rest <= -10; rest /= 10) {
            count++;
        }
        return count;
    }

    private static void writeInteger(byte[] text, int end, long negative) {
        int at = end;
        long rest = negative;
        do {
            text[--at] = (byte) ('0' - rest % 10);
            rest /= 10;
        } while (rest != 0);
    }

    private static String sign(FormatSpec spec, boolean negative) {
        if (negative) {
            return "-";
        }
        if (spec.has(FormatSpec.PLUS)) {
            return "+";
        }
        return spec.has(FormatSpec.SPACE) ? " " : "";
    }

    private static void appendInteger(ByteBuilder out, FormatSpec spec, String prefix, String digits, boolean zero) {
        String shown = zero && spec.precision() == 0 ? "" : digits;
        if (shown.length() < spec.precision()) {
            shown = "0".repeat(spec.precision() - shown.length()) + shown;
        }
        out.append(padded(spec, prefix, shown, spec.has(FormatSpec.ZERO) && spec.precision() < 0));
    }

    private static byte[] padded(FormatSpec spec, String prefix, String digits, boolean zeros) {
        ByteBuilder out = new ByteBuilder(Math.max(spec.width(), prefix.length() + digits.length()));
        ByteBuilder body = new ByteBuilder(digits.length());
        padNumber(out, spec, prefix, body.append(digits.getBytes(StandardCharsets.ISO_8859_1)), zeros);
        return out.toByteArray();
    }

    private static void padNumber(ByteBuilder out, FormatSpec spec, String prefix, ByteBuilder body, boolean zeros) {
        int padding = spec.width() - prefix.length() - body.length();
        boolean left = spec.has(FormatSpec.LEFT);
        if (!left && !zeros) {
            out.fill(' ', padding);
        }
        out.append(prefix);
        if (!left && zeros) {
            out.fill('0', padding);
        }
        out.append(body.toByteArray());
        if (left) {
            out.fill(' ', padding);
        }
    }

    private static void appendGeneral(ByteBuilder out, FormatSpec spec, double positive, int precision) {
        int significant = Math.max(precision, 1);
        DecimalDigits digits = DecimalDigits.significant(positive, significant);
        int exponent = digits.exponent();
        boolean keepZeros = spec.has(FormatSpec.ALTERNATE);
        if (exponent < -4 || exponent >= significant) {
            int shown = keepZeros ? significant - 1 : exponent - digits.lowestPower();
            appendScientific(out, spec, digits, shown);
        } else {
            int shown = keepZeros ? significant - 1 - exponent : Math.max(0, -digits.lowestPower());
            appendFixed(out, spec, digits, shown);
        }
    }

    private static void appendFixed(ByteBuilder out, FormatSpec spec, DecimalDigits digits, int places) {
        for (int power = Math.max(digits.exponent(), 0); power >= -places; power--) {
            if (power == -1) {
                out.append('.');
            }
            out.append(digits.digitAt(power));
        }
        if (places == 0 && spec.has(FormatSpec.ALTERNATE)) {
            out.append('.');
        }
    }

    private static void appendScientific(ByteBuilder out, FormatSpec spec, DecimalDigits digits, int places) {
        int exponent = digits.exponent();
        out.append(digits.digitAt(exponent));
        if (places > 0 || spec.has(FormatSpec.ALTERNATE)) {
            out.append('.');
        }
        for (int i = 1; i <= places; i++) {
            out.append(digits.digitAt(exponent - i));
        }
        out.append(spec.conversion() < 'a' ? 'E' : 'e').append(exponent < 0 ? '-' : '+');
        int power = Math.abs(exponent);
        if (power < 10) {
            out.append('0');
        }
        integer(out, power);
    }
}
