package io.varve.experiments.run.locks;

import java.io.BufferedWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.table.LocksText;

/** The measurements of all rounds, by load and store. Confined to the thread that does the run. */
final class RoundSeries {
    private record Place(String load, String store) {}

    private record Point(double ops, double cpuNanosPerOp) {}

    private final BufferedWriter csv;
    private final String prefix;
    private final Map<Place, List<Point>> points = new LinkedHashMap<>();

    /** @param prefix in front of a store's name in the file */
    RoundSeries(BufferedWriter csv, String prefix) {
        this.csv = csv;
        this.prefix = prefix;
    }

    /** Adds a measurement and writes its row. */
    void add(int round, String load, String store, double ops, double cpuNanosPerOp) throws IOException {
        points.computeIfAbsent(new Place(load, store), _ -> new ArrayList<>()).add(new Point(ops, cpuNanosPerOp));
        csv.write(String.format(Locale.ROOT, "%d,%s,%s%s,%.0f,%.1f%n", round, load, prefix, store, ops,
                cpuNanosPerOp));
        csv.flush();
    }

    /** @param nanos nanoseconds in the unit of the CPU time */
    void put(RunMetrics metrics, String ops, String cpu, double nanos) {
        points.forEach((place, all) -> {
            LocksText.put(metrics, ops, place.load(), place.store(),
                    MedianRange.of(all.stream().map(Point::ops).toList()));
            LocksText.put(metrics, cpu, place.load(), place.store(),
                    MedianRange.of(all.stream().map(point -> point.cpuNanosPerOp() / nanos).toList()));
        });
    }

    /** Stores each round's throughput, divided by that of another store in the same round. */
    void putRatios(RunMetrics metrics, String name, String other) {
        points.forEach((place, all) -> {
            List<Point> others = points.getOrDefault(new Place(place.load(), other), List.of());
            List<Double> ratios = new ArrayList<>();
            for (int i = 0; i < Math.min(all.size(), others.size()); i++) {
                ratios.add(all.get(i).ops() / others.get(i).ops());
            }
            if (!place.store().equals(other) && !ratios.isEmpty()) {
                LocksText.put(metrics, name, place.load(), place.store(), MedianRange.of(ratios));
            }
        });
    }
}
