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
 * The latencies of requests, measured from their due time and from their send time. Confined to the generator's thread.
 *
 * <p>The latency from the due time is that of a user who does not know that the server has stalled. It includes the
 * wait for the connection's previous reply, which is a wait for the server too. The latency from the send time excludes
 * that.
 *
 * <p>A request during which the generator itself was paused, because the system gave its core to another process, does
 * not measure the server. Such a request counts only in the distribution of all requests.
 */
final class Timings {
    static final String HGRM = "latency.hgrm";
    static final String SENT_HGRM = "latency-from-send.hgrm";
    static final String ALL_HGRM = "latency-with-disturbed.hgrm";
    static final String SECONDS_CSV = "latency.csv";
    static final String COMMANDS_CSV = "latency-by-command.csv";
    static final String NUMBERS = "generator.txt";

    private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final int DIGITS = 3;
    private static final double MICRO = 1000;
    private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);
    /**
     * The generator reads the clock several times for each request: a longer gap between two readings means that it did
     * not run.
     */
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
    private static final long LONG_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final long startNanos;
    private final Histogram all = new Histogram(MAX_NANOS, DIGITS);
    private final Histogram due = new Histogram(MAX_NANOS, DIGITS);
    private final Histogram sent = new Histogram(MAX_NANOS, DIGITS);
    private final Map<Command, Histogram> byCommand = new EnumMap<>(Command.class);
    private final Histogram second = new Histogram(MAX_NANOS, DIGITS);
    private final StringBuilder seconds = new StringBuilder("elapsed_ms,requests,p50_us,p99_us,p999_us,max_us\n");
    private final Histogram p999OfSeconds = new Histogram(MAX_NANOS, DIGITS);
    private long secondEnds;
    private long lastReadNanos;
    private long pauseEndNanos;
    private long longPauses;
    private long longestPause;
    private long none;
    private long errors;
    private String firstError = "";

    /** @param startNanos begin of the counted part, by System.nanoTime() */
    Timings(long startNanos) {
        this.startNanos = startNanos;
        this.pauseEndNanos = startNanos;
        this.secondEnds = startNanos + SECOND_NANOS;
        for (Command command : Command.values()) {
            byCommand.put(command, new Histogram(MAX_NANOS, DIGITS));
        }
    }

    /** Records a reply. */
    void add(Command command, long dueNanos, long sentNanos, long nowNanos) {
        if (dueNanos < startNanos) {
            return;
        }
        long waited = Math.min(nowNanos - dueNanos, MAX_NANOS);
        all.recordValue(waited);
        if (pauseEndNanos - dueNanos > 0) {
            return;
        }
        due.recordValue(waited);
        sent.recordValue(Math.min(nowNanos - sentNanos, MAX_NANOS));
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

    /** Records a reading of the clock. */
    void readClock(long nowNanos) {
        long nanos = nowNanos - lastReadNanos;
        if (nanos > PAUSE_NANOS && lastReadNanos != 0) {
            pauseEndNanos = nowNanos;
            if (nowNanos >= startNanos) {
                longestPause = Math.max(longestPause, nanos);
                longPauses += nanos > LONG_PAUSE_NANOS ? 1 : 0;
            }
        }
        lastReadNanos = nowNanos;
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

    /** The text of the first error reply; empty if there was none. */
    String firstError() {
        return firstError;
    }

    /** All numbers by name, in microseconds if the name says so. */
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
