package io.varve.experiments.chart;

import java.awt.Color;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

import io.varve.experiments.chart.ColumnChart.Panel;
import io.varve.experiments.chart.ColumnChart.Series;
import io.varve.experiments.chart.ColumnChart.Value;
import io.varve.experiments.chart.LineChart.Line;
import io.varve.experiments.chart.LineChart.Point;
import org.jspecify.annotations.Nullable;

/** A chart of each kind, from fixed data: usual ones and extreme ones. Stateless. */
final class FixedCharts {
    private static final List<Color> COLORS = IntStream.of(0x17191d, 0x4b1d73, 0x1f4a96, 0xb3261e, 0x12948a, 0xa3600f,
            0xa9b1ba, 0x4f9fd8, 0xf0c83c).mapToObj(Color::new).toList();
    private static final String LONG = "a configuration with a long name that describes all of its settings, number ";
    private static final String VERY_LONG = LONG + "of many, in words that a reader of a paper would not want to read "
            + "in a legend, but that must not be cut either";
    private static final String RANGE = "least and greatest of the repetitions";

    private FixedCharts() {}

    /** All charts by the names of their files. */
    static Map<String, Drawing> all() {
        Map<String, Drawing> all = new LinkedHashMap<>();
        lines(all);
        columns(all);
        figures(all);
        return all;
    }

    private static List<Point> points(int count, double step, DoubleUnaryOperator of) {
        return IntStream.range(0, count).mapToObj(i -> new Point(i * step, of.applyAsDouble(i), Double.NaN, Double.NaN))
                .toList();
    }

    private static Line line(String name, int color, Dash dash, List<Point> points) {
        return new Line(name, COLORS.get(color % COLORS.size()), dash, points);
    }

    private static Drawing lines(String title, String x, String y, boolean logX, boolean logY, List<Line> lines) {
        return new LineChart(title, x, y, logX, logY, lines, RANGE).draw();
    }

    private static void lines(Map<String, Drawing> all) {
        String time = "time since FLUSHALL, s";
        all.put("lines-three", lines("Figure 8: memory in use, workload a, 30M, TTLs {60} s, 4 client threads", time,
                "memory, MB", false, false, List.of(
                        line("Varve", 4, Dash.SOLID, points(206, 1, i -> Math.min(i, 140) * 1.6)),
                        line("Redis", 3, Dash.SOLID, points(206, 1, i -> Math.min(i, 140) * 1.9)),
                        line("limit", 0, Dash.DASHED, points(206, 1, _ -> 280)))));
        all.put("lines-nine-long-names", lines("Nine lines with long names and a title that is much too long for one "
                + "line, so that it has two", time, "requests per second", false, false,
                IntStream.range(0, 9).mapToObj(line -> line(LONG + line, line, Dash.SOLID,
                        points(3600, 1, i -> 40_000 + 5000 * line + 3000 * Math.sin(i / 90.0 + line)))).toList()));
        all.put("lines-very-long-names", lines("Three lines with names that are wider than the chart", time, "size, "
                + "in a unit whose name is longer than the axis is high: mebibytes per second and client", false,
                false, IntStream.range(0, 3).mapToObj(line -> line(VERY_LONG + ", number " + line, line * 3, Dash.SOLID,
                        points(20, 5, i -> i * line))).toList()));
        all.put("lines-24", lines("Miss-ratio curves by penalty class", "memory of the class, MB", "miss ratio, %",
                false, false, IntStream.range(0, 24).mapToObj(line -> line("class " + line / 3 + " at "
                        + (line % 3 * 50) + " %", line / 3, Arrays.asList(Dash.values()).get(line % 3),
                        points(40, 12.5, i -> 100.0 / (1 + i * (0.2 + line / 40.0))))).toList()));
        all.put("lines-one-point", lines("One point", time, "time, µs", false, false,
                List.of(line("one", 4, Dash.SOLID, List.of(new Point(3, 7, 5, 11))))));
        all.put("lines-no-point", lines("No point", time, "time, µs", false, false,
                List.of(line("none", 4, Dash.SOLID, List.of()))));
        all.put("lines-zero", lines("Zero values", time, "items", false, false,
                List.of(line("zero", 4, Dash.SOLID, points(50, 1, _ -> 0)))));
        all.put("lines-huge", lines("Huge values", time, "size, bytes", false, false,
                List.of(line("huge", 4, Dash.SOLID, points(50, 1e11, i -> i * 3.7e15)))));
        all.put("lines-tiny", lines("Small values", time, "share", false, false,
                List.of(line("small", 4, Dash.SOLID, points(50, 0.001, i -> i * 3.7e-7)))));
        all.put("lines-negative", lines("Negative values", time, "improvement, %", false, false,
                List.of(line("negative", 3, Dash.SOLID, points(50, 1, i -> -20 + i * 0.7)),
                        line("never positive", 4, Dash.SOLID, points(50, 1, i -> -1 - i * 0.2)))));
        all.put("lines-gap", lines("Unknown values", time, "throughput, operations/s", false, false,
                List.of(line("with a gap", 2, Dash.SOLID, points(60, 1, i -> i > 20 && i < 30 ? Double.NaN : i)))));
        all.put("lines-ranges", lines("Figure 3: keys per member", "identifiers per member", "keys per member", true,
                false, List.of(line("maximum", 3, Dash.SOLID, ranges(1.6)), line("mean", 6, Dash.SOLID, ranges(1)),
                        line("minimum", 2, Dash.SOLID, ranges(0.5)))));
        all.put("lines-logarithmic", lines("Figure 15: response time of the slowest of N calls", "N, calls",
                "response time, µs", true, true, IntStream.range(0, 5).mapToObj(line -> line("policy " + line, 2 * line,
                        Dash.SOLID, IntStream.range(0, 60).mapToObj(i -> new Point(Math.pow(10, i / 9.0),
                                100 * (1 + line) * Math.pow(10, i / 25.0), Double.NaN, Double.NaN)).toList()))
                        .toList()));
        all.put("lines-narrow-logarithmic", lines("A logarithmic axis of less than a decade", "cache size, keys",
                "hits, %", true, true, List.of(line("tbf", 4, Dash.SOLID, IntStream.rangeClosed(1, 6)
                        .mapToObj(i -> new Point(3000 + 900 * i, 40 + i, Double.NaN, Double.NaN)).toList()))));
    }

    private static List<Point> ranges(double factor) {
        return IntStream.rangeClosed(0, 8).mapToObj(i -> new Point(1 << i, 1e6 * (1 + (factor - 1) / (i + 1)),
                1e6 * (1 + (factor - 1) / (i + 1)) - 80_000, 1e6 * (1 + (factor - 1) / (i + 1)) + 120_000)).toList();
    }

    private static Series series(String name, int color, double... values) {
        List<@Nullable Value> all = new ArrayList<>();
        for (double value : values) {
            all.add(Double.isNaN(value) ? null : new Value(value, Double.NaN, Double.NaN));
        }
        return new Series(name, COLORS.get(color % COLORS.size()), color >= COLORS.size(), all);
    }

    private static <T> List<@Nullable T> none(int count) {
        List<@Nullable T> none = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            none.add(null);
        }
        return none;
    }

    private static Drawing columns(String title, String y, List<String> names, List<Series> series,
            List<@Nullable Double> targets) {
        return new ColumnChart(title, List.of(new Panel("", y, names, series, targets, none(names.size()))), RANGE)
                .draw();
    }

    private static void columns(Map<String, Drawing> all) {
        List<String> tests = List.of("GET, pipeline 1", "GET, pipeline 16", "SET, pipeline 1", "SET, pipeline 16");
        List<@Nullable Double> targets = new ArrayList<>(List.of(0.8, 0.7, 1.0));
        targets.add(null);
        List<@Nullable Value> repeated = new ArrayList<>(List.of(new Value(0.74, 0.7, 0.83),
                new Value(0.66, 0.65, 0.67), new Value(0.93, 0.85, 1.21), new Value(0.7, 0.6, 0.75)));
        all.put("columns-targets", columns("CPU time per operation / Redis's: strings", "ratio", tests, List.of(
                new Series("Varve", COLORS.get(4), false, repeated), series("Valkey", 2, 0.97, 0.95, Double.NaN, 0.93)),
                targets));
        List<String> one = List.of("strings");
        all.put("columns-one", columns("One bar", "time, µs", one, List.of(series("Varve", 4, 17.3)), none(1)));
        all.put("columns-zero", columns("Zero values", "share", tests, List.of(series("Varve", 4, 0, 0, 0, 0)),
                none(4)));
        all.put("columns-huge", columns("Huge values", "size, bytes", tests, List.of(
                series("Varve", 4, 3.2e18, 7.1e14, 1, 9e17), series("Redis", 3, 1.2e18, 5, 4.4e13, 1e12)), none(4)));
        all.put("columns-tiny", columns("Small values", "share", tests, List.of(
                series("Varve", 4, 3.2e-7, 7.1e-7, 1e-9, 0)), none(4)));
        all.put("columns-negative", columns("Negative values", "improvement, %", tests, List.of(
                series("Varve", 4, -3.7, 12, -20, 0), series("Redis", 3, -30, -1, -2, -3)), none(4)));
        all.put("columns-never-positive", columns("No positive value", "improvement, %", tests, List.of(
                series("Varve", 4, -3.7, 0, -20, 0)), none(4)));
        all.put("columns-nine-long-names", columns("Nine series with long names", "thousand requests/s", tests,
                IntStream.range(0, 9).mapToObj(i -> series(LONG + i, i, i + 100, 200 - i, 1234 + i, 3 * i)).toList(),
                none(4)));
        all.put("columns-twelve", columns("Twelve series, three of them hatched", "hits, %", one,
                IntStream.range(0, 12).mapToObj(i -> series("policy " + i, i, 40 + 3 * i)).toList(), none(1)));
        List<String> categories = IntStream.range(0, 40).mapToObj(i -> "category " + i + ", of many").toList();
        all.put("columns-40", columns("Forty categories", "time, µs", categories, List.of(
                series("Varve", 4, IntStream.range(0, 40).mapToDouble(i -> 100 + i).toArray()),
                series("Redis", 3, IntStream.range(0, 40).mapToDouble(i -> 1500 - 30 * i).toArray())), none(40)));
        all.put("columns-40-by-9", columns("Forty categories and nine series", "time, µs",
                IntStream.range(0, 40).mapToObj(i -> LONG + i).toList(), IntStream.range(0, 9).mapToObj(s -> series(
                        "server " + s, s, IntStream.range(0, 40).mapToDouble(i -> 100 + i * s).toArray())).toList(),
                none(40)));
        all.put("columns-long-names", columns("Figure 9: throughput, workload a, 30M, TTLs {60} s, 4 client threads",
                "operations/s", List.of("Reference, (Ref)", "Exp-60-1000-4, (4-1000)", "Exp-120-1000-4, (8-1000)",
                        "Exp-240-1000-4, (16-1000)", "Exp-600-100-4, (40-100)", "Exp-1200-100-4, (80-100)",
                        "Exp-2400-100-4, (160-100)", "Varve", "Redis"),
                List.of(series("measured", 4, 40_123, 39_000, 41_000, 42_000, 38_000, 40_500, 41_500, 43_000, 44_000)),
                none(9)));
    }

    private static void figures(Map<String, Drawing> all) {
        List<String> groups = List.of("60 s", "120 s", "240 s", "Varve");
        all.put("figure-three-panels", figure("Figure 4: overall, by bucket size", groups, List.of(
                new Published(-3.74, null, 53.69), new Published(null, 40.0, 54.0), new Published(null, 40.0, 54.0),
                new Published(null, 40.0, 54.0))));
        all.put("figure-published-parts", figure("Figure 15: long term, one TTL", groups, List.of(
                new Published(-4.0, null, null), new Published(10.0, 20.0, 30.0), new Published(null, null, 25.0),
                new Published(null, 12.0, null))));
        List<String> instances = List.of("60-1000", "120-1000", "240-1000", "600-100", "1200-100", "2400-100",
                "an instance with a very long name");
        all.put("figure-stacked-panels", figure("Figure 18: long term, NUM_BUCKETS and BASE", instances, none(7)));
    }

    private static Drawing figure(String title, List<String> columns, List<@Nullable Published> published) {
        List<Panel> panels = new ArrayList<>();
        for (String quantity : List.of("Mean memory", "Peak memory", "Throughput")) {
            double sign = quantity.equals("Throughput") ? -0.3 : 1;
            List<@Nullable Value> reference = new ArrayList<>();
            List<@Nullable Value> redis = new ArrayList<>();
            for (int i = 0; i < columns.size(); i++) {
                reference.add(new Value(sign * (30 + 3 * i), sign * (30 + 3 * i) - 12, sign * (30 + 3 * i) + 14));
                redis.add(new Value(sign * (14 + 2 * i), sign * (14 + 2 * i) - 5, sign * (14 + 2 * i) + 4));
            }
            panels.add(new Panel(quantity, quantity.equals("Throughput") ? "improvement, %" : "reduction, %", columns,
                    List.of(new Series("measured vs Ref", COLORS.get(6), false, reference),
                            new Series("measured vs Redis", COLORS.get(3), false, redis)),
                    none(columns.size()), published));
        }
        return new ColumnChart(title, panels, "least and greatest of the settings").draw();
    }
}
