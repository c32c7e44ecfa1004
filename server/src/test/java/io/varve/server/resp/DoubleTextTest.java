package io.varve.server.resp;

import java.lang.foreign.Arena;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.function.LongToIntFunction;

import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Doubles as C's printf writes them with %.17g. Confined to the test's thread. */
class DoubleTextTest {
    private static String text(double value) {
        return written(at -> DoubleText.put(at, value));
    }

    private static String written(LongToIntFunction writer) {
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(DoubleText.MAX_CHARS).address();
            int length = writer.applyAsInt(address);
            return new String(Memory.toArray(address, length), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void fourDecimalsAreRoundedToTheNearest() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 200_000; i++) {
            double value = switch (i % 4) {
                case 0 -> random.nextDouble() * Math.pow(10, random.nextInt(13));
                case 1 -> random.nextInt(1_000_000) / 32.0;
                case 2 -> random.nextInt(1_000_000) / 100_000.0;
                default -> random.nextLong(1L << 46);
            };
            assertThat(written(at -> DoubleText.putFourDecimals(at, value))).as("%s, seed %d", value, seed)
                    .isEqualTo(new BigDecimal(value).setScale(4, RoundingMode.HALF_EVEN).toPlainString());
        }
    }

    /** Recorded output of C. */
    @ParameterizedTest
    @CsvSource({"0,0", "-0.0,-0", "1,1", "-1,-1", "0.1,0.10000000000000001", "0.5,0.5", "-2.25,-2.25",
            "3.4999999999999998e-07,3.4999999999999998e-07", "4.9406564584124654e-324,4.9406564584124654e-324",
            "2.2250738585072014e-308,2.2250738585072014e-308", "1.7976931348623157e308,1.7976931348623157e+308",
            "1e16,10000000000000000", "99999999999999984,99999999999999984", "1e17,1e+17", "1e18,1e+18", "1e22,1e+22",
            "123456789012345678,1.2345678901234568e+17", "0.0001,0.0001", "0.00001,1.0000000000000001e-05",
            "1.5e-5,1.5e-05", "9007199254740993,9007199254740992", "2251799813685249.5,2251799813685249.5",
            "1e100,1e+100", "1e-100,1e-100", "0.3,0.29999999999999999", "100.25,100.25", "1000000.1,1000000.1",
            "Infinity,inf", "-Infinity,-inf", "NaN,nan"})
    void isWrittenAsCWritesIt(double value, String text) {
        assertThat(text(value)).isEqualTo(text);
    }

    @Test
    void everyNumberHasItsSeventeenDigits() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 400_000; i++) {
            double value = number(random);
            if (Double.isFinite(value)) {
                String text = text(value);
                assertThat(Double.parseDouble(text)).as(text).isEqualTo(value);
                assertThat(text).as("%s, seed %d", value, seed).isEqualTo(expected(value));
            }
        }
    }

    /** Numbers of all exponents, and some that have few digits or lie midway between two texts. */
    private static double number(SplittableRandom random) {
        return switch (random.nextInt(6)) {
            case 0 -> Double.longBitsToDouble(random.nextLong());
            case 1 -> random.nextLong(1L << 54) * Math.scalb(1.0, random.nextInt(-60, 4));
            case 2 -> random.nextInt(-1_000_000, 1_000_000) / 1000.0;
            case 3 -> Double.parseDouble(random.nextInt(1000) + "e" + random.nextInt(-320, 306));
            case 4 -> Math.scalb((double) random.nextLong(1L << 53), random.nextInt(-1074, 970));
            default -> Double.longBitsToDouble(random.nextLong(1L << 52));
        };
    }

    private static String expected(double value) {
        if (value == 0) {
            return 1 / value < 0 ? "-0" : "0";
        }
        BigDecimal rounded = new BigDecimal(value).round(new MathContext(17, RoundingMode.HALF_EVEN));
        int exponent = rounded.precision() - rounded.scale() - 1;
        BigDecimal shortest = rounded.stripTrailingZeros();
        if (exponent >= -4 && exponent < 17) {
            return shortest.toPlainString();
        }
        String digits = shortest.unscaledValue().abs().toString();
        return (value < 0 ? "-" : "") + digits.charAt(0) + (digits.length() > 1 ? "." + digits.substring(1) : "")
                + (exponent < 0 ? "e-" : "e+") + (Math.abs(exponent) < 10 ? "0" : "") + Math.abs(exponent);
    }
}
