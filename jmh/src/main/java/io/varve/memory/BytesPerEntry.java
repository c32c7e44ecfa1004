package io.varve.memory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;

/**
 * A JMH profiler that adds the bytes of an entry to a benchmark's time ({@code -prof io.varve.memory.BytesPerEntry}).
 * The filling thread writes it, JMH's thread reads it.
 *
 * <p>It reports the growth of the process's resident memory plus the used heap while the cache was filled. The whole
 * heap must be resident from the start ({@code -Xms}, {@code -XX:+AlwaysPreTouch}), so that nothing is counted twice.
 * Only Linux reports resident memory; elsewhere there is no result.
 */
public final class BytesPerEntry implements InternalProfiler {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final int COLLECTIONS = 2;

    private static volatile double measured = Double.NaN;

    /** Called by JMH. */
    public BytesPerEntry() {}

    static void record(double bytes) {
        measured = bytes;
    }

    /** Resident bytes plus used heap bytes; collects garbage first. */
    static long bytesInUse() {
        if (!Files.exists(STATUS)) {
            return 0;
        }
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
        }
        Runtime runtime = Runtime.getRuntime();
        return residentBytes() + runtime.totalMemory() - runtime.freeMemory();
    }

    private static long residentBytes() {
        try {
            for (String line : Files.readAllLines(STATUS)) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) << 10;
                }
            }
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        throw new IllegalStateException(STATUS + " has no VmRSS");
    }

    @Override
    public String getDescription() {
        return "Bytes that an entry takes, resident and on the heap";
    }

    @Override
    public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
        // It was measured when the cache was filled.
    }

    @Override
    public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark, IterationParams iteration,
            IterationResult result) {
        return Double.isNaN(measured) || measured == 0
                ? List.of()
                : List.of(new ScalarResult("bytes.per.entry", measured, "B", AggregationPolicy.AVG));
    }
}
