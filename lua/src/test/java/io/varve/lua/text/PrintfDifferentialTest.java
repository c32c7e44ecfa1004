package io.varve.lua.text;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Random;

import io.varve.lua.oracle.RedisOracle;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Random numbers in random formats, and random texts of numbers, beside those of a real Redis. */
@SuppressWarnings("FloatingPointLiteralPrecision") // Numbers between two doubles are meant.
class PrintfDifferentialTest {
    private static final String NAME = "varve.lua.numbers";
    private static final int BATCH = 100;
    private static final double[] SPECIAL = {0, -0.0, 1, -1, 0.5, 1.5, 2.5, 0.1, 1e15, 1e14, 99999999999999.0, 1e16,
            9007199254740992.0, 9007199254740993.0, 1e17, 1e22, 1e23, 1e100, 1e308, Double.MAX_VALUE, Double.MIN_VALUE,
            Double.MIN_NORMAL, 1.0 / 3, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 0x1p63, -0x1p63, 0x1p64,
            0x1p31, -0x1p31, 1e-5, 1e-4, 9.9999e-5, 9.5, 0.25, 0.125, 1e21, 999999.5, 99999.95};

    @Test
    void numbers_randomFormats_sameText() throws Exception {
        Random random = new Random(TestBudget.seed("varve.lua.seed"));
        String script = "local out = {} for i = 2, #ARGV do "
                + "out[#out + 1] = string.format(ARGV[1], (struct.unpack('>d', ARGV[i]))) end return out";
        try (RedisOracle redis = RedisOracle.start()) {
            int rounds = TestBudget.ofInt(NAME, 300, 20_000);
            for (int round = 0; round < rounds; round++) {
                String letters = "diouxXceEfgGgg";
                FormatSpec spec = spec(random, letters.charAt(random.nextInt(letters.length())));
                byte[][] arguments = new byte[BATCH + 1][];
                arguments[0] = text(spec).getBytes(StandardCharsets.ISO_8859_1);
                double[] numbers = new double[BATCH];
                for (int i = 0; i < BATCH; i++) {
                    numbers[i] = number(random);
                    arguments[i + 1] = ByteBuffer.allocate(8).putDouble(numbers[i]).array();
                }
                List<?> expected = (List<?>) Objects.requireNonNull(redis.eval(script, arguments));
                for (int i = 0; i < BATCH; i++) {
                    String wanted = new String((byte[]) expected.get(i), StandardCharsets.ISO_8859_1);
                    assertThat(format(spec, numbers[i])).as("%s of %s (%x)", text(spec), numbers[i],
                            Double.doubleToRawLongBits(numbers[i])).isEqualTo(wanted);
                }
            }
        }
    }

    @Test
    void numbers_generalFormat_sameText() throws Exception {
        Random random = new Random(TestBudget.seed("varve.lua.seed"));
        String script = "local out = {} for i = 1, #ARGV do local n = struct.unpack('>d', ARGV[i]) "
                + "out[#out + 1] = tostring(n) out[#out + 1] = string.format('%.17g', n) end return out";
        try (RedisOracle redis = RedisOracle.start()) {
            int rounds = TestBudget.ofInt(NAME, 300, 20_000);
            for (int round = 0; round < rounds; round++) {
                byte[][] arguments = new byte[BATCH][];
                double[] numbers = new double[BATCH];
                for (int i = 0; i < BATCH; i++) {
                    numbers[i] = number(random);
                    arguments[i] = ByteBuffer.allocate(8).putDouble(numbers[i]).array();
                }
                List<?> expected = (List<?>) Objects.requireNonNull(redis.eval(script, arguments));
                for (int i = 0; i < BATCH; i++) {
                    assertThat(Printf.general(numbers[i], 14)).isEqualTo((byte[]) expected.get(2 * i));
                    assertThat(Printf.general(numbers[i], 17)).isEqualTo((byte[]) expected.get(2 * i + 1));
                }
            }
        }
    }

    @Test
    void texts_random_sameNumber() throws Exception {
        Random random = new Random(TestBudget.seed("varve.lua.seed"));
        String script = "local out = {} for i = 1, #ARGV do local n = tonumber(ARGV[i]) "
                + "out[#out + 1] = n and struct.pack('>d', n) or '' end return out";
        try (RedisOracle redis = RedisOracle.start()) {
            int rounds = TestBudget.ofInt(NAME, 300, 20_000);
            for (int round = 0; round < rounds; round++) {
                byte[][] texts = new byte[BATCH][];
                for (int i = 0; i < BATCH; i++) {
                    texts[i] = numberText(random).getBytes(StandardCharsets.ISO_8859_1);
                }
                List<?> expected = (List<?>) Objects.requireNonNull(redis.eval(script, texts));
                for (int i = 0; i < BATCH; i++) {
                    byte[] bits = (byte[]) expected.get(i);
                    String shown = new String(texts[i], StandardCharsets.ISO_8859_1);
                    int end = NumberParser.end(texts[i], 0, texts[i].length);
                    boolean whole = end > 0 && NumberParser.skipSpaces(texts[i], end,
                            texts[i].length) == texts[i].length;
                    assertThat(whole).as("'%s'", shown).isEqualTo(bits.length > 0);
                    if (whole) {
                        double number = NumberParser.value(texts[i], 0, end);
                        double wanted = ByteBuffer.wrap(bits).getDouble();
                        assertThat(Double.compare(number, wanted)).as("'%s'", shown).isZero();
                        assertThat(Printf.general(number, 14)).isEqualTo(Printf.general(wanted, 14));
                    }
                }
            }
        }
    }

    private static String format(FormatSpec spec, double number) {
        ByteBuilder out = new ByteBuilder(8);
        switch (spec.conversion()) {
            case 'c' -> Printf.character(out, spec, CNumbers.toIntDirectly(number));
            case 'd', 'i' -> Printf.signed(out, spec, CNumbers.toLong(number));
            case 'o', 'u', 'x', 'X' -> Printf.unsigned(out, spec, CNumbers.toUnsignedLong(number));
            default -> Printf.real(out, spec, number);
        }
        String text = new String(out.toByteArray(), StandardCharsets.ISO_8859_1);
        int zero = text.indexOf('\0');
        return zero < 0 ? text : text.substring(0, zero);
    }

    private static FormatSpec spec(Random random, char letter) {
        int flags = random.nextInt(3) == 0 ? random.nextInt(32) : 0;
        if ((letter | 0x20) == 'g') {
            // The GNU library writes 999999.5 as 1.e+06 instead of 1.00000e+06 with this flag.
            flags &= ~FormatSpec.ALTERNATE;
        }
        int width = random.nextBoolean() ? 0 : random.nextInt(random.nextInt(10) == 0 ? 100 : 20);
        int precision = random.nextInt(3) == 0 ? -1 : random.nextInt(random.nextInt(10) == 0 ? 100 : 20);
        return new FormatSpec(flags, width, precision, letter);
    }

    private static String text(FormatSpec spec) {
        StringBuilder text = new StringBuilder("%");
        for (char c : "-+ #0".toCharArray()) {
            if (spec.has(FormatSpec.flag(c))) {
                text.append(c);
            }
        }
        if (spec.width() > 0) {
            text.append(spec.width());
        }
        if (spec.precision() >= 0) {
            text.append('.').append(spec.precision());
        }
        return text.append((char) spec.conversion()).toString();
    }

    static double number(Random random) {
        return switch (random.nextInt(9)) {
            case 0 -> SPECIAL[random.nextInt(SPECIAL.length)];
            case 1 -> random.nextInt(1000);
            case 2 -> random.nextInt(100_000) / 100.0;
            case 3 -> random.nextLong();
            case 4 -> random.nextGaussian();
            case 5 -> (random.nextInt(2_000_001) - 1_000_000) / (double) (1 << random.nextInt(20));
            case 6 -> Math.scalb(random.nextDouble(), random.nextInt(140) - 70);
            case 7 -> Double.parseDouble(random.nextInt(100_000) + "e" + (random.nextInt(60) - 30));
            default -> Double.longBitsToDouble(random.nextLong());
        };
    }

    private static String numberText(Random random) {
        StringBuilder text = new StringBuilder();
        String[] starts = {"", "", "", " ", "\t\n\u000b\f\r ", "-", "+", "- ", " -", "0x", "-0X", "0", "00", "."};
        String[] parts = {"0", "1", "9", "12", "4503599627370497", "5", ".", ".", "e", "E", "e+", "e-", "p", "p-",
                "inf",
                "nan", "nan(", ")", "INFINITY", "abc", "F", "_", " ", "x", "0000000000000000000000000001", "e308",
                "e-320",
                "p-1074", "p1023", "99999999999999999999"};
        text.append(starts[random.nextInt(starts.length)]);
        for (int i = random.nextInt(7); i >= 0; i--) {
            text.append(random.nextBoolean()
                    ? Integer.toString(random.nextInt(1000))
                    : parts[random.nextInt(parts.length)]);
        }
        if (random.nextInt(4) == 0) {
            double number = number(random);
            return switch (random.nextInt(3)) {
                case 0 -> Double.toHexString(number);
                case 1 -> new java.math.BigDecimal(Double.isFinite(number) ? number : 1).toString();
                default -> Double.toString(number);
            };
        }
        return text.toString();
    }
}
