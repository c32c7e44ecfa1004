package io.varve.server.admin;

import java.util.List;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.varve.memory.ClassReport;
import io.varve.memory.PenaltyReport;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of penalty classes, as VARVE.CLASS LIST tells them: of those that were asked for or that have items. Confined to the
 * thread that scrapes.
 */
final class ClassMetrics implements MultiCollector {
    private static final double MICROS_PER_SECOND = 1e6;

    private final Supplier<@Nullable PenaltyReport> penalties;

    /** @param penalties as they were when the scrape began; null if they are not tracked */
    ClassMetrics(Supplier<@Nullable PenaltyReport> penalties) {
        this.penalties = penalties;
    }

    @Override
    public MetricSnapshots collect() {
        PenaltyReport report = penalties.get();
        List<ClassReport> used = report == null
                ? List.of()
                : report.classes().stream().filter(of -> of.reads() + of.writes() + of.bytes() > 0).toList();
        // A metric without a value is not told.
        return used.isEmpty()
                ? MetricSnapshots.of()
                : MetricSnapshots.of(
                        // A miss counts for another class when the write that follows tells which it is: these go down, too.
                        gauge("varve_class_reads", "Reads of keys of a penalty class", used, ClassReport::reads),
                        gauge("varve_class_misses", "Those that missed", used, ClassReport::misses),
                        counter("varve_class_writes", "Writes of items of the class", used, ClassReport::writes),
                        gauge("varve_class_items_bytes", "What its items take", used, ClassReport::bytes),
                        gauge("varve_class_penalty_seconds", "What a miss costs; NaN while nothing was measured", used,
                                of -> of.penaltyMicros() / MICROS_PER_SECOND),
                        gauge("varve_class_suggested_ratio",
                                "Of the memory for items, what the last division gives it; NaN before the first", used,
                                ClassReport::suggestedShare));
    }

    private static MetricSnapshot counter(String name, String meaning, List<ClassReport> used,
            ToDoubleFunction<ClassReport> value) {
        CounterSnapshot.Builder counter = CounterSnapshot.builder().name(name).help(meaning);
        for (ClassReport of : used) {
            counter.dataPoint(CounterDataPointSnapshot.builder().labels(label(of)).value(value.applyAsDouble(of))
                    .build());
        }
        return counter.build();
    }

    private static MetricSnapshot gauge(String name, String meaning, List<ClassReport> used,
            ToDoubleFunction<ClassReport> value) {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(name).help(meaning);
        for (ClassReport of : used) {
            gauge.dataPoint(GaugeDataPointSnapshot.builder().labels(label(of)).value(value.applyAsDouble(of))
                    .build());
        }
        return gauge.build();
    }

    private static Labels label(ClassReport of) {
        return Labels.of("class", Integer.toString(of.penaltyClass()));
    }
}
