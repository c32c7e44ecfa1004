package io.varve.experiments.paced;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.paced.Mix.Command;
import org.HdrHistogram.Histogram;

/**
 * How long requests took: from the moment they were due and from the moment they were sent. Confined to the generator's
 * thread.
 *
 * <p>From when it was due is what a user waits who does not know that the server has stalled; a request that waits for its
 * connection's previous reply waits for the server too, and that counts. From when it was sent leaves that out.
 *
 * <p>A request during which the generator itself was held up, because the system gave its core to somebody else, says
 * nothing of the server: it is counted apart, in the distribution of all requests alone.
 */
final class Timings {
    static final String HGRM = "latency.hgrm";
    static final String SENT_HGRM = "latency-from-send.hgrm";
    static final String ALL_HGRM = "latency-with-disturbed.hgrm";
    static final String SECONDS_CSV = "latency.csv";
    static final String COMMANDS_CSV = "latency-by-command.csv";
    static final String NUMBERS = "generator.txt";

    private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int DIGITS = 3;
    private static final double MICRO = 1000;
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** The generator reads the clock several times for each request: between two looks so far apart it did not run. */
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long LONG_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final long startNanos;
    private final Histogram all = new Histogram(MOST_NANOS, DIGITS);
    private final Histogram due = new Histogram(MOST_NANOS, DIGITS);
    private final Histogram sent = new Histogram(MOST_NANOS, DIGITS);
    private final Map<Command, Histogram> byCommand = new EnumMap<>(Command.class);
    private final Histogram second = new Histogram(MOST_NANOS, DIGITS);
    private final StringBuilder seconds = new StringBuilder("elapsed_ms,requests,p50_us,p99_us,p999_us,max_us\n");
    private final Histogram p999OfSeconds = new Histogram(MOST_NANOS, DIGITS);
    private long secondEnds;
    private long lookedNanos;
    private long pauseEndNanos;
    private long longPauses;
    private long longestPause;
    private long none;
    private long errors;
    private String firstError = "";

    /** @param startNanos when what counts begins, by System.nanoTime() */
    Timings(long startNanos) {
        this.startNanos = startNanos;
        this.pauseEndNanos = startNanos;
        this.secondEnds = startNanos + SECOND_NANOS;
        for (Command command : Command.values()) {
            byCommand.put(command, new Histogram(MOST_NANOS, DIGITS));
        }
    }

    /** A reply has come. */
    void add(Command command, long dueNanos, long sentNanos, long nowNanos) {
        if (dueNanos < startNanos) {
            return;
        }
        long waited = Math.min(nowNanos - dueNanos, MOST_NANOS);
        all.recordValue(waited);
        if (pauseEndNanos - dueNanos > 0) {
            return;
        }
        due.recordValue(waited);
        sent.recordValue(Math.min(nowNanos - sentNanos, MOST_NANOS));
        of(command).recordValue(waited);
        if (nowNanos >= secondEnds) {
            endSecond();
        }
        second.recordValue(waited);
    }

    private Histogram of(Command command) {
        return Objects.requireNonNull(byCommand.get(command));
    }

    private void endSecond() {
        if (second.getTotalCount() > 0) {
            p999OfSeconds.recordValue(second.getValueAtPercentile(99.9));
            seconds.append(String.format(Locale.ROOT, "%d,%d,%.1f,%.1f,%.1f,%.1f%n",
                    TimeUnit.NANOSECONDS.toMillis(secondEnds - startNanos), second.getTotalCount(),
                    second.getValueAtPercentile(50) / MICRO, second.getValueAtPercentile(99) / MICRO,
                    second.getValueAtPercentile(99.9) / MICRO, second.getMaxValue() / MICRO));
            second.reset();
        }
        secondEnds += SECOND_NANOS;
    }

    /** The clock was looked at. */
    void looked(long nowNanos) {
        long nanos = nowNanos - lookedNanos;
        if (nanos > PAUSE_NANOS && lookedNanos != 0) {
            pauseEndNanos = nowNanos;
            if (nowNanos >= startNanos) {
                longestPause = Math.max(longestPause, nanos);
                longPauses += nanos > LONG_PAUSE_NANOS ? 1 : 0;
            }
        }
        lookedNanos = nowNanos;
    }

    void none(long dueNanos) {
        if (dueNanos >= startNanos) {
            none++;
        }
    }

    void error(String text) {
        if (errors++ == 0) {
            firstError = text;
        }
    }

    /** What the first error reply said; empty if there was none. */
    String firstError() {
        return firstError;
    }

    /** All numbers by name, in microseconds where a name says so. */
    Map<String, Double> numbers(long planned) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        percentiles(numbers, "latency_", due);
        percentiles(numbers, "latency_from_send_", sent);
        percentiles(numbers, "latency_with_disturbed_", all);
        numbers.put("latency_p999_us_of_the_median_second", p999OfSeconds.getValueAtPercentile(50) / MICRO);
        for (Command command : Command.values()) {
            if (of(command).getTotalCount() > 0) {
                numbers.put("latency_p999_us_" + command.name().toLowerCase(Locale.ROOT),
                        of(command).getValueAtPercentile(99.9) / MICRO);
            }
        }
        long done = all.getTotalCount();
        numbers.put("requests", (double) done);
        numbers.put("requests_planned", (double) planned);
        numbers.put("found_nothing", (double) none);
        numbers.put("error_replies", (double) errors);
        numbers.put("requests_disturbed_percent", 100.0 * (done - due.getTotalCount()) / Math.max(1, done));
        numbers.put("generator_pauses_over_1_ms", (double) longPauses);
        numbers.put("generator_longest_pause_us", longestPause / MICRO);
        return numbers;
    }

    private static void percentiles(Map<String, Double> numbers, String name, Histogram histogram) {
        numbers.put(name + "p50_us", histogram.getValueAtPercentile(50) / MICRO);
        numbers.put(name + "p95_us", histogram.getValueAtPercentile(95) / MICRO);
        numbers.put(name + "p99_us", histogram.getValueAtPercentile(99) / MICRO);
        numbers.put(name + "p999_us", histogram.getValueAtPercentile(99.9) / MICRO);
        numbers.put(name + "p9999_us", histogram.getValueAtPercentile(99.99) / MICRO);
        numbers.put(name + "max_us", histogram.getMaxValue() / MICRO);
    }

    /** Writes all files, the numbers last. */
    void write(Path directory, long planned) throws IOException {
        endSecond();
        hgrm(due, directory.resolve(HGRM));
        hgrm(sent, directory.resolve(SENT_HGRM));
        hgrm(all, directory.resolve(ALL_HGRM));
        Files.writeString(directory.resolve(SECONDS_CSV), seconds);
        StringBuilder commands = new StringBuilder("command,requests,p50_us,p99_us,p999_us,max_us\n");
        for (Command command : Command.values()) {
            Histogram histogram = of(command);
            commands.append(String.format(Locale.ROOT, "%s,%d,%.1f,%.1f,%.1f,%.1f%n", command,
                    histogram.getTotalCount(), histogram.getValueAtPercentile(50) / MICRO,
                    histogram.getValueAtPercentile(99) / MICRO, histogram.getValueAtPercentile(99.9) / MICRO,
                    histogram.getMaxValue() / MICRO));
        }
        Files.writeString(directory.resolve(COMMANDS_CSV), commands);
        StringBuilder text = new StringBuilder();
        numbers(planned).forEach((name, value) -> text.append(name).append('=').append(value).append('\n'));
        Files.writeString(directory.resolve(NUMBERS), text);
    }

    private static void hgrm(Histogram histogram, Path file) throws IOException {
        try (PrintStream out = new PrintStream(Files.newOutputStream(file), false, StandardCharsets.US_ASCII)) {
            histogram.outputPercentileDistribution(out, MICRO);
        }
    }
}
