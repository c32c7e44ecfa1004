package io.varve.experiments.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.InfoTable;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.Sample;

/**
 * The runs of one cell over time, a line per configuration. Immutable.
 *
 * @param cell the common properties of the runs
 * @param title human-readable title
 * @param like the paper's figures that show the same setting
 * @param views one view for each quantity
 */
record Curves(String cell, String title, String like, List<View> views) {
    private static final double MEGABYTE = 1e6;
    private static final double SECOND_MILLIS = 1e3;
    /** A column of expiry.csv. */
    private static final int DEAD_COLUMN = 3;
    private static final int LIMIT_COLUMN = 5;
    /** Columns of latency.csv. */
    private static final int P999_COLUMN = 4;
    private static final int MAX_COLUMN = 5;

    /**
     * One quantity.
     *
     * @param name the name in file names
     * @param title human-readable title
     * @param unit the unit of the values
     * @param lines one per configuration
     */
    record View(String name, String title, String unit, List<Line> lines) {}

    /**
     * One configuration.
     *
     * @param configuration its name
     * @param points        the values in the order of time
     */
    record Line(String configuration, List<Point> points) {}

    /**
     * A value at a moment.
     *
     * @param seconds time since FLUSHALL, s
     * @param value   the value in the view's unit
     */
    record Point(double seconds, double value) {}

    private interface Quantity {
        double of(Sample sample);
    }

    /** @param fields fields of INFO to show beside the usual quantities */
    static List<Curves> of(Plan plan, RunFiles files, List<String> fields) throws IOException {
        Map<String, List<RunSpec>> cells = new LinkedHashMap<>();
        plan.runs().forEach(run -> cells.computeIfAbsent(run.cell(), _ -> new ArrayList<>()).add(run));
        List<Curves> result = new ArrayList<>();
        for (Map.Entry<String, List<RunSpec>> cell : cells.entrySet()) {
            List<View> views = new ArrayList<>();
            Map<RunSpec, List<Sample>> samples = new LinkedHashMap<>();
            for (RunSpec run : cell.getValue()) {
                List<Sample> taken = files.samples(run);
                if (!taken.isEmpty()) {
                    samples.put(run, taken);
                }
            }
            if (samples.isEmpty()) {
                continue;
            }
            addExpired(views, cell.getValue(), files);
            addLatency(views, cell.getValue(), files, "latency-p999", "99.9th percentile of the latency, by second",
                    P999_COLUMN);
            addLatency(views, cell.getValue(), files, "latency-max", "Maximum latency, by second", MAX_COLUMN);
            views.add(view("memory", "Memory in use (used_memory)", "MB", samples, s -> s.usedMemory() / MEGABYTE));
            views.add(
                    view("rss", "Resident memory (used_memory_rss)", "MB", samples, s -> s.usedMemoryRss() / MEGABYTE));
            views.add(view("throughput", "Throughput", "operations/s", samples, Sample::ops));
            views.add(view("keys", "Keys, including expired ones in memory", "keys", samples, Sample::keys));
            addInfo(views, cell.getValue(), files, fields);
            RunSpec first = cell.getValue().getFirst();
            String title = plan.kind(first) == Kind.YCSB
                    ? first.cellTitle()
                    : first.workload() + ", " + first.size()
                            + (first.ttls().isEmpty() ? "" : ", TTLs " + first.ttlText() + " s");
            result.add(new Curves(cell.getKey(), title, like(plan, first), List.copyOf(views)));
        }
        return result;
    }

    private static View view(String name, String title, String unit, Map<RunSpec, List<Sample>> samples,
            Quantity quantity) {
        List<Line> lines = new ArrayList<>();
        samples.forEach((run, taken) -> lines.add(new Line(run.configuration(), taken.stream()
                .map(sample -> new Point(sample.elapsedMillis() / SECOND_MILLIS, quantity.of(sample)))
                .toList())));
        return new View(name, title, unit, lines);
    }

    /** The counts of the expiry experiment: one line per configuration, and the limit. */
    private static void addExpired(List<View> views, List<RunSpec> runs, RunFiles files) throws IOException {
        List<Line> lines = new ArrayList<>();
        for (RunSpec run : runs) {
            List<double[]> rows = files.rows(run, RunFiles.EXPIRY_CSV).stream().map(Curves::numbers).toList();
            if (rows.isEmpty()) {
                continue;
            }
            lines.add(new Line(run.configuration(), points(rows, DEAD_COLUMN)));
            if (lines.size() == 1) {
                lines.addFirst(new Line("limit", points(rows, LIMIT_COLUMN)));
            }
        }
        if (!lines.isEmpty()) {
            views.add(new View("expired", "Expired items in memory", "items", lines));
        }
    }

    /** A number of each second of the latency experiment, a line per configuration. */
    private static void addLatency(List<View> views, List<RunSpec> runs, RunFiles files, String name, String title,
            int column) throws IOException {
        List<Line> lines = new ArrayList<>();
        for (RunSpec run : runs) {
            List<double[]> rows = files.rows(run, RunFiles.LATENCY_CSV).stream().map(Curves::numbers).toList();
            if (!rows.isEmpty()) {
                lines.add(new Line(run.configuration(), points(rows, column)));
            }
        }
        if (!lines.isEmpty()) {
            views.add(new View(name, title, "µs", lines));
        }
    }

    private static List<Point> points(List<double[]> rows, int column) {
        return rows.stream().map(row -> new Point(row[0] / SECOND_MILLIS, row[column])).toList();
    }

    private static double[] numbers(String row) {
        String[] cells = row.split(",", -1);
        double[] numbers = new double[cells.length];
        for (int i = 0; i < cells.length; i++) {
            numbers[i] = Double.parseDouble(cells[i]);
        }
        return numbers;
    }

    /** The figures of the paper with this setting; ours are never quite equal, so they are named, not claimed. */
    private static String like(Plan plan, RunSpec run) {
        List<String> ids = figures(plan).stream().filter(run::isIn)
                .map(figure -> figure.id().replace("Figure ", "")).toList();
        return switch (ids.size()) {
            case 0 -> plan.experiment().name().equals("bucket-expiry")
                    ? "like the paper's Figures 8 and 9, which show workload a, 30 million operations, TTL {60} s"
                    : "";
            case 1 -> "the paper's Figure " + ids.getFirst();
            default -> "the paper's Figures " + String.join(", ", ids.subList(0, ids.size() - 1)) + " and "
                    + ids.getLast();
        };
    }

    /** The paper's figures of a single setting. */
    private static List<Figure> figures(Plan plan) {
        List<Figure> all = Objects.requireNonNullElse(plan.experiment().figures(), List.of());
        return all.stream().filter(figure -> Figure.MEMORY_CURVES.equals(figure.shows())
                || Figure.INSTANCE_THROUGHPUT.equals(figure.shows())).toList();
    }

    /** Any numbers of INFO, a view per field; none of fields that no server has reported. */
    private static void addInfo(List<View> views, List<RunSpec> runs, RunFiles files, List<String> fields)
            throws IOException {
        Map<String, List<Line>> lines = new LinkedHashMap<>();
        for (RunSpec run : fields.isEmpty() ? List.<RunSpec>of() : runs) {
            InfoTable info = files.info(run);
            for (String field : fields) {
                int column = 1 + info.fields().indexOf(field);
                List<Point> points = column == 0
                        ? List.of()
                        : info.rows().stream().filter(row -> !row.get(column).isNaN())
                                .map(row -> new Point(row.getFirst() / SECOND_MILLIS, row.get(column))).toList();
                if (!points.isEmpty()) {
                    lines.computeIfAbsent(field, _ -> new ArrayList<>()).add(new Line(run.configuration(), points));
                }
            }
        }
        for (String field : fields) {
            if (lines.containsKey(field)) {
                views.add(new View("info_" + field, "INFO: " + field, "", lines.getOrDefault(field, List.of())));
            }
        }
    }
}
