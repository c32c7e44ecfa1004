package io.varve.server.admin.metrics;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.varve.memory.report.CacheStats;
import io.varve.server.admin.CommandCounts;
import io.varve.server.admin.InfoSource;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.jspecify.annotations.Nullable;

/**
 * The metrics with a label: one for each command, error or database that has run, occurred or holds anything, as in
 * INFO. Confined to the thread that scrapes.
 *
 * <p>A scrape adds up the event loops' own histograms and divides them into {@link #BOUNDS_NANOS}. They resolve
 * latencies to one hundredth, up to one second.
 */
final class LabelledMetrics implements MultiCollector {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MILLIS_PER_SECOND = 1e3;
    /** Upper bounds of all buckets except the last, from 1 microsecond to half a second. */
    private static final long[] BOUNDS_NANOS = {1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
            1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000};
    private static final double[] BOUNDS_SECONDS = boundsInSeconds();

    private final InfoSource source;
    private final Supplier<CommandCounts> counts;
    private final Supplier<CacheStats> stats;

    /**
     * @param counts the event loops' counters at the begin of the scrape
     * @param stats the memory tier's sums at that moment
     */
    LabelledMetrics(InfoSource source, Supplier<CommandCounts> counts, Supplier<CacheStats> stats) {
        this.source = source;
        this.counts = counts;
        this.stats = stats;
    }

    private static double[] boundsInSeconds() {
        double[] bounds = new double[BOUNDS_NANOS.length + 1];
        for (int i = 0; i < BOUNDS_NANOS.length; i++) {
            bounds[i] = BOUNDS_NANOS[i] / NANOS_PER_SECOND;
        }
        bounds[BOUNDS_NANOS.length] = Double.POSITIVE_INFINITY;
        return bounds;
    }

    @Override
    public MetricSnapshots collect() {
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        CommandCounts now = counts.get();
        List<String> commands = source.commandNames();
        add(all, ofCommands("varve_command_calls", "Calls of a command that ran", commands, now::calls));
        add(all, ofCommands("varve_command_failures", "Calls that ran and returned an error", commands, now::failed));
        add(all, ofCommands("varve_command_rejections", "Calls refused before they ran", commands,
                now::rejected));
        if (source.config().latencyTracking()) {
            add(all, latencies(commands, now));
        }
        add(all, errors());
        databases(all);
        return all.build();
    }

    private static void add(MetricSnapshots.Builder all, @Nullable MetricSnapshot metric) {
        if (metric != null) {
            all.metricSnapshot(metric);
        }
    }

    /** Null if there is none: metrics without a value are omitted. */
    private static @Nullable MetricSnapshot ofCommands(String name, String meaning, List<String> commands,
            ToLongFunction<Integer> value) {
        CounterSnapshot.Builder counter = CounterSnapshot.builder().name(name).help(meaning);
        boolean any = false;
        for (int i = 0; i < commands.size(); i++) {
            long count = value.applyAsLong(i);
            if (count > 0) {
                any = true;
                counter.dataPoint(point(Labels.of("command", commands.get(i)), count));
            }
        }
        return any ? counter.build() : null;
    }

    private static CounterDataPointSnapshot point(Labels labels, double value) {
        return CounterDataPointSnapshot.builder().labels(labels).value(value).build();
    }

    private static @Nullable MetricSnapshot latencies(List<String> commands, CommandCounts now) {
        HistogramSnapshot.Builder metric = HistogramSnapshot.builder().name("varve_command_duration_seconds")
                .help("Time of a call, without network time");
        boolean any = false;
        for (int i = 0; i < commands.size(); i++) {
            Histogram histogram = now.latencies(i);
            if (histogram != null) {
                any = true;
                // The sum is exact: the histogram's values have a precision of one hundredth.
                var point = HistogramDataPointSnapshot.builder().classicHistogramBuckets(buckets(histogram));
                point.sum(now.nanos(i) / NANOS_PER_SECOND);
                metric.dataPoint(point.labels(Labels.of("command", commands.get(i))).build());
            }
        }
        return any ? metric.build() : null;
    }

    /** A value that the histogram cannot distinguish from a bound counts as below it. */
    static ClassicHistogramBuckets buckets(Histogram histogram) {
        long[] counts = new long[BOUNDS_NANOS.length + 1];
        int bucket = 0;
        for (HistogramIterationValue step : histogram.recordedValues()) {
            long min = histogram.lowestEquivalentValue(step.getValueIteratedTo());
            while (bucket < BOUNDS_NANOS.length && min > BOUNDS_NANOS[bucket]) {
                bucket++;
            }
            counts[bucket] += step.getCountAddedInThisIterationStep();
        }
        return ClassicHistogramBuckets.of(BOUNDS_SECONDS, counts);
    }

    private @Nullable MetricSnapshot errors() {
        CounterSnapshot.Builder counter = CounterSnapshot.builder().name("varve_error_replies")
                .help("Error replies by their first word");
        Map<String, Long> errors = source.errors().byPrefix();
        errors.forEach((prefix, count) -> counter.dataPoint(point(Labels.of("error", prefix), count)));
        return errors.isEmpty() ? null : counter.build();
    }

    private void databases(MetricSnapshots.Builder all) {
        List<CacheStats.Database> databases = stats.get().databases();
        GaugeSnapshot.Builder keys = GaugeSnapshot.builder().name("varve_db_keys").help("Keys in memory, by database");
        GaugeSnapshot.Builder expiring = GaugeSnapshot.builder().name("varve_db_expiring_keys")
                .help("Keys with an expiry time, by database");
        GaugeSnapshot.Builder lifetimes = GaugeSnapshot.builder().name("varve_db_average_ttl_seconds")
                .help("Mean remaining TTL, by database");
        boolean any = false;
        for (int i = 0; i < databases.size(); i++) {
            CacheStats.Database database = databases.get(i);
            // Database 0 is always reported, so that an empty server has a value to plot.
            if (i == 0 || database.items() > 0) {
                any = true;
                Labels labels = Labels.of("db", Integer.toString(i));
                keys.dataPoint(gauge(labels, database.items()));
                expiring.dataPoint(gauge(labels, database.expiringItems()));
                lifetimes.dataPoint(gauge(labels, database.averageTtlMillis() / MILLIS_PER_SECOND));
            }
        }
        if (any) {
            all.metricSnapshot(keys.build()).metricSnapshot(expiring.build()).metricSnapshot(lifetimes.build());
        }
    }

    private static GaugeDataPointSnapshot gauge(Labels labels, double value) {
        return GaugeDataPointSnapshot.builder().labels(labels).value(value).build();
    }
}
