package io.varve.server.resp;

import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Doubles as C reads them. Confined to the test's thread. */
class DoubleReaderTest {
    private static final int BUFFER_BYTES = 1 << 20;
    private final Arena arena = Arena.ofConfined();
    private final long room = arena.allocate(BUFFER_BYTES).address();

    @AfterEach
    void close() {
        arena.close();
    }

    private int write(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        Memory.copy(bytes, 0, room, bytes.length);
        return bytes.length;
    }

    private double parse(String text) {
        return DoubleReader.parse(room, write(text));
    }

    private double bound(String text) {
        return DoubleReader.parseBound(room, write(text));
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "+1,1", "-1.5,-1.5", ".5,0.5", "5.,5", "1e3,1000", "1E-3,0.001", "1e+3,1000",
            "inf,Infinity",
            "-INF,-Infinity", "+Infinity,Infinity", "0x10,16", "0X1p4,16", "0x.8,0.5", "0x1.8p1,3", "0x1P-1,0.5",
            "1e22,1e22", "1e23,1e23", "123456789012345678,1.2345678901234568E17", "4e-324,4.9E-324",
            "179769313486231570e291,1.7976931348623157E308", "00000000000000000001,1", "0e99999999999999999999,0"})
    void aNumberIsRead(String text, double value) {
        assertThat(parse(text)).isEqualTo(value);
        assertThat(bound(text)).isEqualTo(value);
    }

    @Test
    void aNegativeZeroIsOne() {
        assertThat(1 / parse("-0")).isEqualTo(Double.NEGATIVE_INFINITY);
        assertThat(1 / parse("-0.0e5")).isEqualTo(Double.NEGATIVE_INFINITY);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", " 1", "1 ", "+", "-", "+-1", "--1", ".", "e5", "1e", "1e+", "0x", "0xg", "0x.",
            "0x1p",
            "1_0", "1f", "1d", "0x1p3f", "1..2", "nan", "-nan", "nan(12)", "NAN()", "infinit", "inf1", "abc", "1e400",
            "-1e400", "1e-400", "-0x1p-2000", "1e99999999999999999999", "1e-99999999999999999999", "1\0"})
    void invalidNumbersAreRejected(String text) {
        assertThat(parse(text)).isNaN();
    }

    @ParameterizedTest
    @CsvSource({"'',0", "' 1',1", "'\t\n-2',-2", "1e400,Infinity", "-1e400,-Infinity", "1e-400,0"})
    void aBoundMayBeMore(String text, double value) {
        assertThat(bound(text)).isEqualTo(value);
    }

    @Test
    void aBoundEndsWithAZero() {
        assertThat(bound("1\0rest")).isEqualTo(1);
        assertThat(bound("\0001")).isEqualTo(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {" ", "1 ", "nan", "a", "1e", "0x", "-", "(1"})
    void aBoundIsNoneIfMoreFollows(String text) {
        assertThat(bound(text)).isNaN();
    }

    @Test
    void veryLongNumbersAreReadRightly() {
        assertThat(parse("0".repeat(100_000) + "12.5")).isEqualTo(12.5);
        assertThat(parse("1" + "0".repeat(5000) + "e-5000")).isEqualTo(1);
        assertThat(parse("0." + "0".repeat(5000) + "1e5001")).isEqualTo(1);
        assertThat(parse("0x1" + "0".repeat(5000) + "p-20000")).isEqualTo(1);
        // In the middle of two doubles, but for the last digit.
        String middle = new java.math.BigDecimal(1.0).add(new java.math.BigDecimal(Math.ulp(1.0) / 2)).toPlainString();
        assertThat(parse(middle)).isEqualTo(1);
        assertThat(parse(middle + "0".repeat(2000) + "1")).isEqualTo(Math.nextUp(1.0));
        assertThat(parse("0x1.00000000000008")).isEqualTo(1);
        assertThat(parse("0x1.00000000000008" + "0".repeat(200) + "1")).isEqualTo(Math.nextUp(1.0));
    }

    @Test
    void writtenNumbersAreReadBack() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 200_000; i++) {
            double value = switch (i % 3) {
                case 0 -> Double.longBitsToDouble(random.nextLong());
                case 1 -> random.nextInt(-1_000_000_000, 1_000_000_000) / Math.pow(10, random.nextInt(12));
                default -> random.nextLong();
            };
            if (Double.isFinite(value) && value != 0) {
                int length = DoubleText.put(room, value);
                assertThat(DoubleReader.parse(room, length)).as("%s, seed %d", value, seed).isEqualTo(value);
                assertThat(parse(Double.toString(value))).as("%s, seed %d", value, seed).isEqualTo(value);
                assertThat(parse(Double.toHexString(value))).as("%s, seed %d", value, seed).isEqualTo(value);
            }
        }
    }
}
