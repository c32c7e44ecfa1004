package io.varve.server.admin.metrics;

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
import io.varve.memory.report.ClassReport;
import io.varve.memory.report.PenaltyReport;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of penalty classes, as VARVE.CLASS LIST shows them: only of classes with reads, writes or items. Confined
 * to the thread that scrapes.
 */
final class ClassMetrics implements MultiCollector {
    private static final double MICROS_PER_SECOND = 1e6;

    private final Supplier<@Nullable PenaltyReport> penalties;

    /** @param penalties the state at the begin of the scrape; null if penalties are not tracked */
    ClassMetrics(Supplier<@Nullable PenaltyReport> penalties) {
        this.penalties = penalties;
    }

    @Override
    public MetricSnapshots collect() {
        PenaltyReport report = penalties.get();
        List<ClassReport> used = report == null
                ? List.of()
                : report.classes().stream().filter(of -> of.reads() + of.writes() + of.bytes() > 0).toList();
        // Prometheus metrics without a value are omitted.
        return used.isEmpty()
                ? MetricSnapshots.of()
                : MetricSnapshots.of(
                        // A miss moves to another class when the subsequent write determines that class: these decrease
                        // too.
                        gauge("varve_class_reads", "Reads of keys of the penalty class", used, ClassReport::reads),
                        gauge("varve_class_misses", "Reads that missed", used, ClassReport::misses),
                        counter("varve_class_writes", "Writes of items of the class", used, ClassReport::writes),
                        gauge("varve_class_items_bytes", "Memory of its items", used, ClassReport::bytes),
                        gauge("varve_class_penalty_seconds", "Penalty of a miss; NaN until measured", used,
                                of -> of.penaltyMicros() / MICROS_PER_SECOND),
                        gauge("varve_class_suggested_ratio",
                                "Share of the item memory from the last division; NaN before the first", used,
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
