package io.varve.experiments.paced;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.varve.experiments.paced.Mix.Command;
import io.varve.experiments.result.table.LatencyText;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests the conversion of request times to a distribution. Confined to the test's thread. */
final class TimingsTest {
    private static final long START = 5_000_000_000L;
    private static final long MICRO = 1000;
    private static final long MILLI = 1000 * MICRO;

    private final Timings timings = new Timings(START);

    /** A request that is due and sent so long after the start, and takes so long, on a generator that always runs. */
    private void request(long dueNanos, long tookNanos) {
        timings.add(Command.GET, START + dueNanos, START + dueNanos, START + dueNanos + tookNanos);
    }

    private double number(String name) {
        return timings.numbers(1000).getOrDefault(name, Double.NaN);
    }

    @Test
    void waitForConnectionCountsAsWaitForServer() {
        timings.add(Command.GET, START, START + 3 * MILLI, START + 4 * MILLI);
        assertThat(number("latency_max_us")).isCloseTo(4000, within(8.0));
        assertThat(number("latency_from_send_max_us")).isCloseTo(1000, within(2.0));
        assertThat(number("latency_p999_us_get")).isCloseTo(4000, within(8.0));
        assertThat(timings.numbers(1)).doesNotContainKey("latency_p999_us_hset");
    }

    @Test
    void theWarmUpDoesNotCount() {
        request(-1, 50 * MILLI);
        request(0, MILLI);
        timings.none(START - 1);
        assertThat(number("requests")).isEqualTo(1);
        assertThat(number("found_nothing")).isZero();
    }

    @Test
    void requestsDuringGeneratorPauseAreCountedSeparately() {
        timings.readClock(START + 10 * MICRO);
        request(0, 20 * MICRO);
        timings.readClock(START + 90 * MICRO); // 80 us: it only had much to do
        request(0, 90 * MICRO);
        timings.readClock(START + 8 * MILLI); // held up for nearly 8 ms
        request(7 * MILLI, 2 * MILLI);
        request(9 * MILLI, 30 * MICRO);
        assertThat(number("requests")).isEqualTo(4);
        assertThat(number("requests_disturbed_percent")).isEqualTo(25);
        assertThat(number("latency_max_us")).isCloseTo(90, within(0.2));
        assertThat(number("latency_with_disturbed_max_us")).isCloseTo(2000, within(4.0));
        assertThat(number("generator_longest_pause_us")).isCloseTo(7910, within(0.1));
        assertThat(number("generator_pauses_over_1_ms")).isEqualTo(1);
    }

    @Test
    void percentilesAreOfAllAndOfTheMedianSecond(@TempDir Path folder) throws IOException {
        for (int second = 0; second < 3; second++) {
            for (int i = 0; i < 1000; i++) {
                request(second * 1000L * MILLI + i * MILLI / 2, (second == 1 ? 900 : 30) * MICRO);
            }
        }
        assertThat(number("latency_p50_us")).isCloseTo(30, within(0.1));
        assertThat(number("latency_p999_us")).isCloseTo(900, within(2.0));
        timings.error("-ERR first");
        timings.error("-ERR second");
        timings.write(folder, 3000);
        assertThat(number("latency_p999_us_of_the_median_second")).isCloseTo(30, within(0.1));
        assertThat(timings.firstError()).isEqualTo("-ERR first");
        assertThat(Files.readAllLines(folder.resolve(Timings.SECONDS_CSV))).hasSize(4)
                .element(2).asString().startsWith("2000,1000,");
        assertThat(Files.readAllLines(folder.resolve(Timings.NUMBERS))).contains("requests=3000.0",
                "error_replies=2.0");
        for (String file : new String[] {Timings.HGRM, Timings.SENT_HGRM, Timings.ALL_HGRM, Timings.COMMANDS_CSV}) {
            assertThat(folder.resolve(file)).isNotEmptyFile();
        }
    }

    @Test
    void theNumbersHaveTheNamesOfTheReport() {
        request(0, MILLI);
        Map<String, Double> numbers = timings.numbers(10);
        assertThat(numbers).containsKeys(LatencyText.P50,
                LatencyText.P999, LatencyText.P9999,
                LatencyText.MAX, LatencyText.MEDIAN_P999,
                LatencyText.ALL_P999, "requests_planned");
    }
}
