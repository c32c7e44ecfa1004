package io.varve.experiments.run.load;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/**
 * Adds up the interval histograms that YCSB writes ({@code OPERATION.hdr}) to one distribution, in microseconds.
 * Confined to the thread that runs the phase.
 *
 * <p>A throttled phase uses the intended latencies, which start at an operation's due time, so that a stalled server
 * does not also stall its own measurement. A read-modify-write counts as its read and its update.
 */
public final class Latencies {
    private static final Set<String> OPERATIONS = Set.of("READ", "READ-FAILED", "UPDATE", "INSERT", "SCAN");
    private static final String INTENDED = "Intended-";
    private static final String SUFFIX = ".hdr";
    private static final long MAX_MICROS = 3_600_000_000L;
    private static final int DIGITS = 3;

    private Latencies() {}

    /**
     * Writes {@code latency.hgrm} and records the percentiles.
     *
     * @return the distribution, in microseconds; empty if nothing was measured
     */
    public static Histogram collect(Path histograms, Path directory, boolean intended, RunMetrics metrics)
            throws IOException {
        Histogram sum = new Histogram(MAX_MICROS, DIGITS);
        List<Path> files;
        try (Stream<Path> listed = Files.list(histograms)) {
            files = listed.filter(file -> isWanted(file.getFileName().toString(), intended)).sorted().toList();
        }
        for (Path file : files) {
            try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
                while (reader.hasNext()) {
                    EncodableHistogram next = reader.nextIntervalHistogram();
                    if (next instanceof Histogram interval) {
                        sum.add(interval);
                    }
                }
            }
        }
        if (sum.getTotalCount() == 0) {
            return sum;
        }
        try (PrintStream out = new PrintStream(Files.newOutputStream(directory.resolve(RunFiles.LATENCY_HGRM)), false,
                StandardCharsets.US_ASCII)) {
            sum.outputPercentileDistribution(out, 1.0);
        }
        metrics.put("latency_p50_us", sum.getValueAtPercentile(50));
        metrics.put("latency_p95_us", sum.getValueAtPercentile(95));
        metrics.put("latency_p99_us", sum.getValueAtPercentile(99));
        metrics.put("latency_p999_us", sum.getValueAtPercentile(99.9));
        metrics.put("latency_max_us", sum.getMaxValue());
        return sum;
    }

    private static boolean isWanted(String file, boolean intended) {
        if (!file.endsWith(SUFFIX) || file.startsWith(INTENDED) != intended) {
            return false;
        }
        int from = intended ? INTENDED.length() : 0;
        return OPERATIONS.contains(file.substring(from, file.length() - SUFFIX.length()));
    }
}
