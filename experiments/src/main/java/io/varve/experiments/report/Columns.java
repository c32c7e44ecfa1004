package io.varve.experiments.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.result.Cell;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.Summary;
import org.jspecify.annotations.Nullable;

/**
 * A number of every server side by side, and the target. Immutable.
 *
 * @param file    name of the image, without its suffix
 * @param title   for people
 * @param unit    of the values
 * @param names   of the columns; what follows a comma goes on a second line
 * @param series  one per server
 * @param targets one per column; null where nothing is asked
 */
record Columns(String file, String title, String unit, List<String> names, List<Series> series,
        List<@Nullable Double> targets) {
    private static final String PER_KEY = "resident_bytes_per_key";
    private static final String PER_KEY_CHECK = "resident bytes per key";

    /**
     * One server.
     *
     * @param name   its configuration's
     * @param values one per column; null where nothing was measured
     */
    record Series(String name, List<@Nullable Double> values) {}

    /** The greatest of all numbers shown. */
    double most() {
        double most = 0;
        for (Series each : series) {
            most = Math.max(most, greatest(each.values()));
        }
        return Math.max(most, greatest(targets));
    }

    private static double greatest(List<@Nullable Double> values) {
        double most = 0;
        for (Double value : values) {
            most = value == null ? most : Math.max(most, value);
        }
        return most;
    }

    static List<Columns> of(Summary summary) {
        List<Columns> all = new ArrayList<>();
        for (RunRecord run : summary.runs()) {
            if (!run.cells().isEmpty()) {
                all.add(cpu(run));
                if (run.cells().stream().anyMatch(cell -> cell.ratio() != null)) {
                    all.add(ratios(run));
                }
            }
        }
        if (summary.runs().stream().anyMatch(run -> run.measured().containsKey(PER_KEY))) {
            all.add(perKey(summary));
        }
        return all;
    }

    private static Columns cpu(RunRecord run) {
        Grid grid = new Grid();
        run.cells().forEach(cell -> grid.put(cell.title(), cell.contestant(), cell.cpuMicrosPerOp().median()));
        return grid.columns("cpu_" + run.run().id(), "Server's CPU time per operation: " + run.run().workload(), "µs");
    }

    private static Columns ratios(RunRecord run) {
        Grid grid = new Grid();
        for (Cell cell : run.cells()) {
            if (cell.ratio() != null) {
                grid.put(cell.title(), cell.contestant(), cell.ratio().median());
            }
            if (cell.target() != null) {
                grid.targets.put(cell.title(), cell.target());
            }
        }
        return grid.columns("ratio_" + run.run().id(), "CPU time per operation over the rival's: "
                + run.run().workload(), "ratio");
    }

    private static Columns perKey(Summary summary) {
        Grid grid = new Grid();
        for (RunRecord run : summary.runs()) {
            double value = run.number(PER_KEY);
            if (Double.isFinite(value)) {
                grid.put(run.run().workload(), run.run().configuration(), value);
            }
            for (Check check : run.checks()) {
                if (check.what().equals(PER_KEY_CHECK)) {
                    grid.targets.put(run.run().workload(), check.limit());
                }
            }
        }
        return grid.columns("resident-bytes-per-key", "Resident bytes per key", "bytes");
    }

    /** Gathers the values; confined to the method that makes it. */
    private static final class Grid {
        private final Set<String> names = new LinkedHashSet<>();
        private final Map<String, Map<String, Double>> byServer = new LinkedHashMap<>();
        private final Map<String, Double> targets = new LinkedHashMap<>();

        void put(String column, String server, double value) {
            names.add(column);
            byServer.computeIfAbsent(server, _ -> new LinkedHashMap<>()).put(column, value);
        }

        Columns columns(String file, String title, String unit) {
            List<Series> series = new ArrayList<>();
            byServer.forEach((server, values) -> series.add(new Series(server, row(values))));
            return new Columns(file, title, unit, List.copyOf(names), List.copyOf(series), row(targets));
        }

        private List<@Nullable Double> row(Map<String, Double> values) {
            List<@Nullable Double> row = new ArrayList<>();
            names.forEach(name -> row.add(values.get(name)));
            return row;
        }
    }
}
