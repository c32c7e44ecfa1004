package io.varve.experiments.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

import io.varve.experiments.plan.PlacementLoad;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.report.Graph.Line;
import io.varve.experiments.report.Graph.Point;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.table.PlacementText;
import io.varve.experiments.result.table.Summary;
import org.jspecify.annotations.Nullable;

/**
 * Draws keys per member and their standard deviation by the number of identifiers, and the most loaded member of large
 * clusters. Stateless. Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store",
 * Figures 3 and 4.
 */
final class PlacementGraphs {
    static final String KEYS_ON_RING = "keys on a ring";
    static final String SLOTS_ON_RING = "slots on a ring";
    static final String THEORY = "theory";
    static final String LEAST = "minimum";
    static final String MEAN = "mean";
    static final String MOST = "maximum";
    private static final String IDENTIFIERS = "identifiers per member";
    private static final String KEYS = "keys per member";

    private PlacementGraphs() {}

    static List<Graph> of(Plan plan, Summary summary) {
        List<Graph> graphs = new ArrayList<>();
        for (RunRecord run : summary.runs()) {
            if (!PlacementText.isIn(run)) {
                continue;
            }
            PlacementLoad load = plan.placement(run.run());
            if (load.hashed()) {
                Predicate<Integer> papers = identifiers -> identifiers <= PlacementText.PAPERS_MOST;
                graphs.add(keys(run, "figure-3", "Figure 3: keys per member", false, papers));
                graphs.add(deviations(run, "figure-4", "Figure 4: standard deviation of keys per member", false,
                        papers));
                graphs.add(keys(run, "figure-3-continued", "Keys per member, to more identifiers", true, _ -> true));
                graphs.add(deviations(run, "figure-4-continued",
                        "Standard deviation of keys per member, to more identifiers", true, _ -> true));
            } else {
                graphs.add(mostLoaded(run, load));
            }
        }
        return graphs;
    }

    private static Graph keys(RunRecord run, String file, String title, boolean logX, Predicate<Integer> shown) {
        List<Line> lines = new ArrayList<>();
        addWithRange(lines, run, MOST, PlacementText.KEYS_MOST, shown);
        lines.add(new Line(MEAN, Palette.html(MEAN), false, points(run, PlacementText.KEYS_MEAN, PlacementText::onRing,
                shown)));
        addWithRange(lines, run, LEAST, PlacementText.KEYS_LEAST, shown);
        return new Graph(file, title, IDENTIFIERS, KEYS, logX, false, lines);
    }

    /** The median of all seeds as a line, with their range. */
    private static void addWithRange(List<Line> lines, RunRecord run, String name, String metric,
            Predicate<Integer> shown) {
        lines.add(new Line(name, Palette.html(name), false,
                points(run, metric, PlacementText::onRing, shown)));
    }

    private static Graph deviations(RunRecord run, String file, String title, boolean logX,
            Predicate<Integer> shown) {
        List<Line> lines = new ArrayList<>();
        addWithRange(lines, run, KEYS_ON_RING, PlacementText.KEYS_DEVIATION, shown);
        lines.add(new Line(THEORY, Palette.html(THEORY), true,
                points(run, PlacementText.KEYS_THEORY, PlacementText::onRing, shown)));
        if (logX) {
            lines.add(new Line(SLOTS_ON_RING, Palette.html(SLOTS_ON_RING), false, points(run,
                    PlacementText.KEYS_DEVIATION, PlacementText::slotsOnRing, shown)));
            addConstants(lines, run, PlacementText.KEYS_DEVIATION);
        }
        return new Graph(file, title, IDENTIFIERS, "standard deviation, keys", logX, logX, lines.stream()
                .map(line -> logX ? aboveZero(line) : line).toList());
    }

    /** The line without the points that a logarithmic axis cannot show. */
    private static Line aboveZero(Line line) {
        return new Line(line.name(), line.color(), line.dash(),
                line.points().stream().filter(point -> point.y() > 0).toList());
    }

    private static Graph mostLoaded(RunRecord run, PlacementLoad load) {
        List<Line> lines = new ArrayList<>();
        lines.add(new Line(SLOTS_ON_RING, Palette.html(SLOTS_ON_RING), false, points(run,
                PlacementText.MOST_OVER_MEAN, PlacementText::slotsOnRing, _ -> true)));
        addConstants(lines, run, PlacementText.MOST_OVER_MEAN);
        return new Graph("most-loaded_" + run.run().workload(),
                "Keys of the member with the most / mean, " + load.members() + " members", IDENTIFIERS, "ratio", true,
                false, lines);
    }

    /** Placements without identifiers, as level lines. */
    private static void addConstants(List<Line> lines, RunRecord run, String metric) {
        List<Integer> all = PlacementText.placements(run).stream().map(PlacementText::slotsOnRing)
                .filter(OptionalInt::isPresent).map(OptionalInt::getAsInt).sorted().toList();
        for (String placement : List.of(PlacementText.RENDEZVOUS, PlacementText.REBALANCED)) {
            double value = PlacementText.number(run, metric, placement);
            lines.add(new Line(placement, Palette.html(placement), false,
                    List.of(new Point(all.getFirst(), value), new Point(all.getLast(), value))));
        }
    }

    private static List<Point> points(RunRecord run, String metric, Function<String, OptionalInt> identifiers,
            Predicate<Integer> shown) {
        Map<Integer, Point> points = new TreeMap<>();
        for (String placement : PlacementText.placements(run)) {
            OptionalInt count = identifiers.apply(placement);
            if (count.isPresent() && shown.test(count.getAsInt())) {
                MedianRange range = range(run, metric, placement);
                if (range != null) {
                    points.put(count.getAsInt(), point(count.getAsInt(), range));
                }
            }
        }
        return List.copyOf(points.values());
    }

    private static Point point(int identifiers, MedianRange range) {
        return range.count() < 2
                ? new Point(identifiers, range.median())
                : new Point(identifiers, range.median(), range.min(), range.max());
    }

    /** The range over the seeds; a number without a range is its own. */
    private static @Nullable MedianRange range(RunRecord run, String metric, String placement) {
        double value = PlacementText.number(run, metric, placement);
        return metric.equals(PlacementText.KEYS_THEORY) && Double.isFinite(value)
                ? new MedianRange(1, value, value, value)
                : PlacementText.range(run, metric, placement);
    }
}
