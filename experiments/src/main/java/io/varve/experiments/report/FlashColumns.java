package io.varve.experiments.report;

import java.util.List;

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.report.Columns.Grid;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.result.table.Summary;

/**
 * The bar charts of the TBF paper (Ungureanu and others 2013): hits and misses of all kinds of requests for each size
 * of the cache (Figure 5), and requests per second (Figure 7). Stateless.
 */
final class FlashColumns {
    private static final double PERCENT = 0.01;
    /** The paper's policies, in the order of its figures. */
    private static final List<String> POLICIES = List.of("tbf", "bfd", "clock", "lru", "random");
    /** The paper's names of the first three caches. */
    private static final List<String> SIZES = List.of("small", "medium", "large");
    private static final List<String> PAGE_CACHES = List.of("yes", "flash", "no");

    private FlashColumns() {}

    static void add(List<Columns> all, Plan plan, Summary summary) {
        List<RunRecord> simulated = summary.runs().stream()
                .filter(run -> plan.kind(run.run()) == Kind.SIMULATED).toList();
        for (int size = 0; size < SIZES.size(); size++) {
            char first = (char) ('a' + 2 * size);
            String suffix = " \"" + SIZES.get(size) + "\" cache";
            addAllRequests(all, simulated, size, PoliciesText.HITS, "figure-5" + first,
                    "Figure 5(" + first + "): hits," + suffix, "%");
            char second = (char) (first + 1);
            addAllRequests(all, simulated, size, PoliciesText.MISSES_OVER_LRU, "figure-5" + second,
                    "Figure 5(" + second + "): misses relative to LRU," + suffix, "% of LRU's");
        }
        for (String pageCache : PAGE_CACHES) {
            addOperations(all, plan, summary, pageCache);
        }
    }

    /** A column for each kind of requests, with the policies of the paper. */
    private static void addAllRequests(List<Columns> all, List<RunRecord> runs, int size, String metric, String file,
            String title, String unit) {
        Grid grid = new Grid();
        for (RunRecord run : runs) {
            List<String> sizes = PoliciesText.sizes(run);
            if (size >= sizes.size()) {
                continue;
            }
            for (String policy : POLICIES) {
                double value = PoliciesText.number(run, metric, policy, sizes.get(size)) / PERCENT;
                if (Double.isFinite(value)) {
                    // Text after a comma is drawn on a second line.
                    grid.put(run.run().workload() + ", " + sizes.get(size), policy, value);
                }
            }
        }
        if (!grid.isEmpty()) {
            all.add(grid.columns(file, title, unit));
        }
    }

    /** Figure 7, at the largest cache of each run: the paper has one size. */
    private static void addOperations(List<Columns> all, Plan plan, Summary summary, String pageCache) {
        Grid grid = new Grid();
        for (RunRecord run : summary.runs()) {
            List<String> sizes = PoliciesText.sizes(run);
            if (plan.kind(run.run()) != Kind.OBSERVED || sizes.isEmpty()
                    || !run.load().getOrDefault("page-cache", "yes").equals(pageCache)) {
                continue;
            }
            for (String policy : PoliciesText.policies(run)) {
                double value = PoliciesText.number(run, PoliciesText.OPS, policy, sizes.getLast());
                if (Double.isFinite(value)) {
                    grid.put(run.run().workload() + ", " + sizes.getLast(), policy, value);
                }
            }
        }
        if (!grid.isEmpty()) {
            all.add(grid.columns("figure-7_page-cache-" + pageCache,
                    "Figure 7: requests per second, in the page cache: " + files(pageCache), "requests/s"));
        }
    }

    private static String files(String pageCache) {
        return switch (pageCache) {
            case "yes" -> "all files";
            case "flash" -> "the cache's files";
            default -> "none";
        };
    }
}
