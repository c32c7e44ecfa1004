package io.varve.experiments.report;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import io.varve.experiments.definition.Experiment.Configuration;
import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Graph.Line;
import io.varve.experiments.report.Graph.Point;
import io.varve.experiments.result.Comparison;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.Sample;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;

/**
 * The paper's figures of one setting that show all instances: memory over time, and operations a second. Stateless.
 */
final class InstanceFigures {
    private static final double MEGABYTE = 1e6;
    private static final double SECOND_MILLIS = 1e3;
    private static final String OPERATIONS = "measured";

    private InstanceFigures() {}

    /** A graph for each cell that a figure includes; its file has the figure's name if there is one cell. */
    static List<Graph> memory(Plan plan, RunFiles files) throws IOException {
        List<Graph> graphs = new ArrayList<>();
        for (Figure figure : figures(plan, Figure.MEMORY_CURVES)) {
            Map<String, List<Line>> cells = new LinkedHashMap<>();
            Map<String, String> titles = new LinkedHashMap<>();
            for (RunSpec run : plan.runs()) {
                List<Sample> samples = run.isIn(figure) ? files.samples(run) : List.of();
                if (!samples.isEmpty()) {
                    titles.put(run.cell(), run.cellTitle());
                    cells.computeIfAbsent(run.cell(), _ -> new ArrayList<>()).add(line(plan, run, samples));
                }
            }
            cells.forEach((cell, lines) -> graphs.add(new Graph(file(figure, cell, cells.size()),
                    figure.id() + ": memory in use, " + titles.get(cell), "time since FLUSHALL, s", "MB", false, false,
                    List.copyOf(lines))));
        }
        return graphs;
    }

    private static Line line(Plan plan, RunSpec run, List<Sample> samples) {
        Configuration configuration = plan.configuration(run);
        return new Line(PaperTables.instance(run, configuration),
                Palette.html(Objects.requireNonNullElse(configuration.paperName(), run.configuration())),
                plan.experiment().baselines().contains(run.configuration()),
                samples.stream().map(
                        sample -> new Point(sample.elapsedMillis() / SECOND_MILLIS, sample.usedMemory() / MEGABYTE))
                        .toList());
    }

    /** A bar chart for each cell that a figure includes. */
    static List<Columns> throughput(Plan plan, Summary summary) {
        List<Columns> all = new ArrayList<>();
        for (Figure figure : figures(plan, Figure.INSTANCE_THROUGHPUT)) {
            Map<String, Columns.Grid> cells = new LinkedHashMap<>();
            Map<String, String> titles = new LinkedHashMap<>();
            for (RunRecord run : summary.runs()) {
                double operations = Comparison.throughput(run);
                if (run.run().isIn(figure) && run.outcome() == Outcome.OK && Double.isFinite(operations)) {
                    titles.put(run.run().cell(), run.run().cellTitle());
                    // Text after a comma is drawn on a second line.
                    cells.computeIfAbsent(run.run().cell(), _ -> new Columns.Grid()).put(
                            PaperTables.instance(run.run(), plan.configuration(run.run())).replace(" (", ", ("),
                            OPERATIONS, operations);
                }
            }
            cells.forEach((cell, grid) -> all.add(grid.columns(file(figure, cell, cells.size()),
                    figure.id() + ": throughput, " + titles.get(cell), "operations/s")));
        }
        return all;
    }

    private static List<Figure> figures(Plan plan, String shows) {
        List<Figure> all = Objects.requireNonNullElse(plan.experiment().figures(), List.of());
        return all.stream().filter(figure -> shows.equals(figure.shows())).toList();
    }

    private static String file(Figure figure, String cell, int cells) {
        String name = figure.id().toLowerCase(Locale.ROOT).replace(' ', '-');
        return cells == 1 ? name : name + "_" + cell;
    }
}
