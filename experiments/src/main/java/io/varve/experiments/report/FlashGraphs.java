package io.varve.experiments.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.report.Graph.Line;
import io.varve.experiments.report.Graph.Point;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.result.table.Summary;

/**
 * Draws Figures 2 to 4 of the TBF paper (Ungureanu and others 2013): the cost of traversal, false negatives, and hits
 * and misses by the size of the cache. Stateless.
 */
final class FlashGraphs {
    /** The property of YCSB's requests, for which these figures are. */
    private static final String DISTRIBUTION = "distribution";
    private static final double WHOLE = 100;
    private static final double THOUSAND = 1e3;
    private static final String CACHED = "cache size, keys";
    private static final List<String> PAPERS_POLICIES = List.of("tbf", "bfd", "clock", "lru", "random");
    /** The order of the caches: the paper's names of the first three. */
    private static final List<String> SIZES = List.of("small", "medium", "large");
    /** The policies of Figure 2(a), and the paper's names of them. */
    private static final Map<String, String> INITIAL_BITS = initialBits();

    private FlashGraphs() {}

    private static Map<String, String> initialBits() {
        Map<String, String> names = new LinkedHashMap<>();
        names.put("clock", "CLOCK-zero");
        names.put("tbf", "TBF-zero");
        names.put("clock-marked", "CLOCK-one");
        names.put("tbf-marked", "TBF-one");
        return names;
    }

    static List<Graph> of(Plan plan, Summary summary) {
        List<RunRecord> runs = summary.runs().stream().filter(run -> plan.kind(run.run()) == Kind.SIMULATED)
                .filter(run -> run.load().containsKey(DISTRIBUTION) && !PoliciesText.sizes(run).isEmpty()).toList();
        List<Graph> graphs = new ArrayList<>();
        for (RunRecord run : runs) {
            add(graphs, initialBits(run));
            add(graphs, cacheSizes(run));
        }
        add(graphs, falseNegatives(runs));
        for (RunRecord run : runs.stream().filter(run -> "latest".equals(run.load().get(DISTRIBUTION))).toList()) {
            add(graphs, bySize(run, PoliciesText.HITS, "figure-4a_", "Figure 4(a): hits, requests: ", "hits, %"));
            add(graphs, bySize(run, PoliciesText.MISSES_OVER_LRU, "figure-4b_",
                    "Figure 4(b): misses relative to LRU, requests: ", "misses, % of LRU's"));
        }
        return graphs;
    }

    private static void add(List<Graph> graphs, Graph graph) {
        if (!graph.lines().isEmpty()) {
            graphs.add(graph);
        }
    }

    /** Figure 2(a): keys inserted unmarked and marked, in the large cache. */
    private static Graph initialBits(RunRecord run) {
        List<Line> lines = new ArrayList<>();
        String size = PoliciesText.sizes(run).get(Math.min(SIZES.size(), PoliciesText.sizes(run).size()) - 1);
        INITIAL_BITS.forEach((policy, name) -> addTraversal(lines, run, policy, size, name,
                policy.startsWith("tbf") ? Palette.html("tbf") : Palette.html("clock"), policy.endsWith("-marked")));
        return traversal("figure-2a_" + run.run().workload(),
                "Figure 2(a): cost of traversal by initial bit, cache of " + size + ", requests: "
                        + run.run().workload(),
                lines);
    }

    /** Figure 2(b): TBF, keys inserted unmarked, by the size of the cache. */
    private static Graph cacheSizes(RunRecord run) {
        List<Line> lines = new ArrayList<>();
        List<String> sizes = PoliciesText.sizes(run);
        for (int i = 0; i < Math.min(SIZES.size(), sizes.size()); i++) {
            addTraversal(lines, run, "tbf", sizes.get(i), SIZES.get(i) + ", " + sizes.get(i), Palette.byNumber(i),
                    false);
        }
        return traversal("figure-2b_" + run.run().workload(),
                "Figure 2(b): cost of traversal by cache size, TBF, requests: " + run.run().workload(), lines);
    }

    private static Graph traversal(String file, String title, List<Line> lines) {
        return new Graph(file, title, "longest traversal, keys", "visited keys, thousand, cumulative", true, false,
                lines);
    }

    /** The legend has the mean number of visited keys, as the paper's does. */
    private static void addTraversal(List<Line> lines, RunRecord run, String policy, String size, String name,
            String color, boolean dashed) {
        String metric = PoliciesText.name(PoliciesText.VISITED_WITHIN, policy, size) + " ";
        List<Point> points = run.measured().entrySet().stream().filter(entry -> entry.getKey().startsWith(metric))
                .map(entry -> new Point(Double.parseDouble(entry.getKey().substring(metric.length())),
                        entry.getValue() / THOUSAND))
                .toList();
        if (!points.isEmpty()) {
            double mean = PoliciesText.number(run, PoliciesText.TRAVERSED, policy, size);
            lines.add(new Line(String.format(Locale.ROOT, "%s (mean %.2f)", name, mean), color, dashed, points));
        }
    }

    /** Figure 3: a line for each kind of requests. */
    private static Graph falseNegatives(List<RunRecord> runs) {
        List<Line> lines = new ArrayList<>();
        for (RunRecord run : runs) {
            List<Point> points = points(run, PoliciesText.FALSE_NEGATIVES, "bfd");
            if (!points.isEmpty()) {
                lines.add(new Line(run.run().workload(), Palette.byNumber(lines.size()),
                        false, points));
            }
        }
        return new Graph("figure-3", "Figure 3: false negatives of BFD", CACHED, "% of all visited keys", true, false,
                lines);
    }

    /** Figure 4: a line for each of the paper's policies. */
    private static Graph bySize(RunRecord run, String metric, String file, String title, String unit) {
        List<Line> lines = new ArrayList<>();
        for (String policy : PAPERS_POLICIES) {
            List<Point> points = points(run, metric, policy);
            if (!points.isEmpty()) {
                lines.add(new Line(policy, Palette.html(policy), false, points));
            }
        }
        return new Graph(file + run.run().workload(), title + run.run().workload(), CACHED, unit, true, false, lines);
    }

    private static List<Point> points(RunRecord run, String metric, String policy) {
        return PoliciesText.sizes(run).stream()
                .map(size -> new Point(PoliciesText.number(run, PoliciesText.CAPACITY, policy, size),
                        WHOLE * PoliciesText.number(run, metric, policy, size)))
                .filter(point -> Double.isFinite(point.x()) && Double.isFinite(point.y())).toList();
    }
}
