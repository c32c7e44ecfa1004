package io.varve.server.command.text;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Texts recorded from Redis on x86-64. Confined to the test thread. */
class LongDoubleTest {
    @ParameterizedTest
    @CsvSource({"0,0.1,0.1", "0.1,0.2,0.3", "10.5,0.1,10.6", "3.0e3,200,3200", "1e17,0.5,100000000000000000.5",
            "5e18,1,5000000000000000001", "1,1e-17,1.00000000000000001", "0,1.23456789012345678901,1.23456789012345679",
            "0,-1e-20,0", "0,0x10,16", "0,0x1.8p3,12", "1e22,1,10000000000000000000000",
            "99999999999999999999,1,100000000000000000000", "1,1e-18,1", "0,5e-18,0", "0,5.,5", "0,.5,0.5", "0,+5,5",
            "0,0e99999999999,0", "-0.0,0,0", "0.3,-0.3,0", "1.1,2.2,3.3",
            "0,3.14159265358979323846,3.14159265358979324",
            "12345678901.123456789,0.000000001,12345678901.12345679011195898"})
    void addsAndWritesAsRedisDoes(String start, String increment, String expected) {
        assertThat(LongDouble.parse(start).plus(LongDouble.parse(increment)).text()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " 1", "1 ", "1e", "1e+", ".", "nan", "-nan", "0x", "0x.p1", "1e4933", "-1e4933",
            "1e-5000",
            "1e99999999999999999999", "--1", "+-1", "1.2.3", "abc", "1f", "\u0661"})
    void refusesWhatIsNoNumber(String text) {
        assertThat(LongDouble.parse(text).kind()).isEqualTo(LongDouble.Kind.INVALID);
    }

    @ParameterizedTest
    @ValueSource(strings = {"inf", "-inf", "+Inf", "INFINITY", "-infinity"})
    void infinityIsANumberThatNothingCanBeAddedTo(String text) {
        assertThat(LongDouble.parse(text).kind()).isEqualTo(LongDouble.Kind.INFINITE);
        assertThat(LongDouble.parse("1").plus(LongDouble.parse(text)).kind()).isEqualTo(LongDouble.Kind.INFINITE);
    }

    @Test
    void aSumPastTheLargestNumberIsInfinite() {
        LongDouble large = LongDouble.parse("1e4932");
        assertThat(large.kind()).isEqualTo(LongDouble.Kind.FINITE);
        assertThat(large.plus(large).kind()).isEqualTo(LongDouble.Kind.INFINITE);
    }

    @Test
    void tiesRoundToEven() {
        // 2^64 + 1 lies half way between two numbers of 64 bits, and so does 2^64 + 3.
        assertThat(LongDouble.parse("18446744073709551617").text()).isEqualTo("18446744073709551616");
        assertThat(LongDouble.parse("18446744073709551619").text()).isEqualTo("18446744073709551620");
        assertThat(LongDouble.parse("18446744073709551615").text()).isEqualTo("18446744073709551615");
    }
}
