package io.varve.server.config;

import java.util.Locale;
import java.util.SplittableRandom;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers with decimals. Confined to the test's thread. */
class DecimalsTest {
    @ParameterizedTest
    @CsvSource({"0,2,0.00", "1,2,1.00", "0.005,2,0.01", "0.0049,2,0.00", "99.999,2,100.00", "1023.994,2,1023.99",
            "0.07,4,0.0700", "1.5,1,1.5", "-0.25,1,-0.3", "-12.34,2,-12.34", "12345678.9,6,12345678.900000",
            "1e16,2,10000000000000000.00", "NaN,2,NaN", "Infinity,2,Infinity"})
    void areWritten(double value, int places, String text) {
        assertThat(Decimals.of(value, places)).isEqualTo(text);
    }

    @Test
    void areThoseOfAFormatter() {
        SplittableRandom random = new SplittableRandom(7);
        for (int i = 0; i < 20_000; i++) {
            int places = random.nextInt(1, 7);
            double value = (random.nextDouble() - 0.5) * Math.pow(10, random.nextInt(10));
            assertThat(Decimals.of(value, places)).isEqualTo(String.format(Locale.ROOT, "%." + places + "f", value));
        }
    }
}
