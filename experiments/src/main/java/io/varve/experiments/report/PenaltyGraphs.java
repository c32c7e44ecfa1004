package io.varve.experiments.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

import io.varve.experiments.chart.Dash;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Graph.Line;
import io.varve.experiments.report.Graph.Point;
import io.varve.experiments.result.ClassCurve;
import io.varve.experiments.result.PenaltyClass;
import io.varve.experiments.result.ResponseTimes;
import io.varve.experiments.result.RunFiles;

/**
 * Draws the penalty paper's Figures 12, 13 and 15 for each workload, and the state of its policy: memory shares by
 * class, and the classes' curves. Stateless.
 */
final class PenaltyGraphs {
    private static final double WHOLE = 100;
    private static final double MEGABYTE = 1e6;
    private static final String OF_OPERATIONS = "% of the operations";
    /** A class that never exceeds this share of the memory is not drawn. */
    private static final double MIN_SHARE = 0.01;
    /** The end of the distribution's plot. */
    private static final double LAST_PERCENT = 99.9;
    /** The columns of an HdrHistogram row: value, percentile, count, 1 / (1 - percentile). */
    private static final int HGRM_CELLS = 4;

    private PenaltyGraphs() {}

    static List<Graph> of(Plan plan, RunFiles files) throws IOException {
        Map<String, List<RunSpec>> cells = new LinkedHashMap<>();
        plan.runs().stream().filter(run -> plan.kind(run) == Kind.PENALTY)
                .forEach(run -> cells.computeIfAbsent(run.cell(), _ -> new ArrayList<>()).add(run));
        List<Graph> graphs = new ArrayList<>();
        for (Map.Entry<String, List<RunSpec>> cell : cells.entrySet()) {
            String name = cell.getKey();
            String workload = cell.getValue().getFirst().workload();
            add(graphs, overTime(cell.getValue(), files, "response_" + name,
                    FigureNumber.before("Mean response time over the run, workload " + workload, plan, workload,
                            "Figure 12", "Figure 17"),
                    "µs", true,
                    each -> each.calls().micros()));
            add(graphs, overTime(cell.getValue(), files, "misses_" + name,
                    FigureNumber.before("Miss ratio over the run, workload " + workload, plan, workload, "Figure 12",
                            "Figure 17"),
                    "% of the reads", false,
                    each -> WHOLE * each.missRatio()));
            addDistributions(graphs, plan, cell.getValue(), files, name, workload);
            for (RunSpec run : cell.getValue()) {
                add(graphs, shares(run, files));
                add(graphs, classCurves(run, files));
            }
        }
        return graphs;
    }

    private static void add(List<Graph> graphs, Graph graph) {
        if (!graph.lines().isEmpty()) {
            graphs.add(graph);
        }
    }

    /** @param logY whether the axis is logarithmic: for a quantity that is a hundred times as large at the start */
    private static Graph overTime(List<RunSpec> runs, RunFiles files, String file, String title, String unit,
            boolean logY, ToDoubleFunction<ResponseTimes> quantity) throws IOException {
        List<Line> lines = new ArrayList<>();
        for (RunSpec run : runs) {
            List<ResponseTimes> intervals = files.rows(run, RunFiles.RESPONSE_CSV).stream().map(ResponseTimes::parse)
                    .toList();
            if (intervals.isEmpty()) {
                continue;
            }
            double all = intervals.getLast().operations();
            lines.add(new Line(run.configuration(), Palette.html(run.configuration()), false,
                    intervals.stream().map(each -> new Point(WHOLE * each.operations() / all,
                            quantity.applyAsDouble(each))).filter(point -> Double.isFinite(point.y())).toList()));
        }
        return new Graph(file, title, OF_OPERATIONS, unit, false, logY, lines);
    }

    private static void addDistributions(List<Graph> graphs, Plan plan, List<RunSpec> runs, RunFiles files, String name,
            String workload) throws IOException {
        List<Line> shares = new ArrayList<>();
        List<Line> tails = new ArrayList<>();
        for (RunSpec run : runs) {
            Path file = files.of(run).resolve(RunFiles.LATENCY_HGRM);
            if (!Files.exists(file)) {
                continue;
            }
            List<Point> share = new ArrayList<>();
            List<Point> tail = new ArrayList<>();
            for (String line : Files.readAllLines(file)) {
                String[] cells = line.strip().split("\\s+", -1);
                if (cells.length == HGRM_CELLS && cells[0].matches("[0-9.]+") && cells[3].matches("[0-9.]+")) {
                    double micros = Double.parseDouble(cells[0]);
                    double percent = WHOLE * Double.parseDouble(cells[1]);
                    if (percent <= LAST_PERCENT && micros > 0) {
                        share.add(new Point(micros, percent));
                    }
                    if (micros > 0) {
                        tail.add(new Point(Double.parseDouble(cells[3]), micros));
                    }
                }
            }
            if (!share.isEmpty()) {
                String color = Palette.html(run.configuration());
                shares.add(new Line(run.configuration(), color, false, share));
                tails.add(new Line(run.configuration(), color, false, tail));
            }
        }
        add(graphs, new Graph("response-share_" + name,
                FigureNumber.before("Distribution of response times, workload " + workload, plan, workload,
                        "Figure 13"),
                "response time, µs", "% of the calls", true, false, shares));
        add(graphs, new Graph("response-tail_" + name,
                FigureNumber.before("Response time of the slowest of N calls, workload " + workload, plan, workload,
                        "Figure 15"),
                "N, calls", "response time, µs", true, true, tails));
    }

    /** The memory of each class, and dashed the suggestion of the last division. */
    private static Graph shares(RunSpec run, RunFiles files) throws IOException {
        List<PenaltyClass.At> samples = files.rows(run, RunFiles.CLASSES_CSV).stream().map(PenaltyClass.At::parse)
                .toList();
        double all = samples.stream().mapToLong(PenaltyClass.At::operations).max().orElse(0);
        Map<Integer, List<PenaltyClass.At>> byClass = samples.stream()
                .collect(Collectors.groupingBy(each -> each.state().number(), TreeMap::new, Collectors.toList()));
        List<Line> lines = new ArrayList<>();
        byClass.forEach((number, ats) -> {
            if (all == 0 || ats.stream().noneMatch(at -> at.state().share() > MIN_SHARE)) {
                return;
            }
            String name = "class " + number + ", " + ats.getFirst().state().range();
            lines.add(new Line(name, Palette.byNumber(number), false,
                    points(ats, all, PenaltyClass::share)));
            List<Point> suggested = points(ats, all, PenaltyClass::suggestedShare);
            if (!suggested.isEmpty()) {
                lines.add(new Line("class " + number + ", suggested", Palette.byNumber(number), true, suggested));
            }
        });
        return new Graph("shares_" + run.id(),
                "Memory by class of penalty over the run, workload " + run.workload() + ", " + run.configuration(),
                OF_OPERATIONS, "% of the items' memory", false, false, lines);
    }

    private static List<Point> points(List<PenaltyClass.At> ats, double all, ToDoubleFunction<PenaltyClass> quantity) {
        return ats.stream().map(at -> new Point(WHOLE * at.operations() / all,
                WHOLE * quantity.applyAsDouble(at.state()))).filter(point -> Double.isFinite(point.y())).toList();
    }

    /** The curves of the classes at three moments: when they were known first, in the middle, and at the end. */
    private static Graph classCurves(RunSpec run, RunFiles files) throws IOException {
        List<ClassCurve> points = files.rows(run, RunFiles.CLASS_CURVES_CSV).stream().map(ClassCurve::parse).toList();
        TreeSet<Long> moments = points.stream().map(ClassCurve::operations)
                .collect(Collectors.toCollection(TreeSet::new));
        List<Line> lines = new ArrayList<>();
        if (!moments.isEmpty()) {
            long last = moments.last();
            Long middle = moments.ceiling(last / 2);
            TreeSet<Long> shown = new TreeSet<>(List.of(moments.first(), middle == null ? last : middle, last));
            long first = shown.getFirst();
            Set<Integer> classes = points.stream().map(ClassCurve::number)
                    .collect(Collectors.toCollection(TreeSet::new));
            for (int number : classes) {
                for (long moment : shown) {
                    List<Point> curve = points.stream()
                            .filter(point -> point.number() == number && point.operations() == moment)
                            .map(point -> new Point(point.bytes() / MEGABYTE, WHOLE * point.missRatio())).toList();
                    if (!curve.isEmpty()) {
                        lines.add(new Line(
                                String.format(Locale.ROOT, "class %d at %.0f %%", number, WHOLE * moment / last),
                                Palette.byNumber(number),
                                moment == last ? Dash.SOLID : moment == first ? Dash.DOTTED : Dash.DASHED,
                                curve));
                    }
                }
            }
        }
        return new Graph("class-curves_" + run.id(),
                "Miss-ratio curves by penalty class, workload " + run.workload() + ", " + run.configuration(),
                "memory of the class, MB", "miss ratio, %", false, false, lines);
    }
}
