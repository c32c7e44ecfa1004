package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.Experiment.Published;
import io.varve.experiments.result.RunRecord;

/** The figures and tables of the TBF paper as tables, with the published values. Stateless. */
final class FlashTables {
    private static final String NONE = "-";
    private static final double WHOLE = 100;
    private static final double GIGABYTE = 1e9;
    /** Number of items in the paper's cache. */
    private static final double PUBLISHED_ITEMS = 150e6;

    private FlashTables() {}

    private static PaperTable table(Figure figure, List<String> head, List<List<String>> rows, List<String> notes) {
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                notes);
    }

    /** Table V: a policy's memory for an item, and for the paper's 150 million. */
    static PaperTable memory(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs.subList(0, Math.min(1, runs.size()))) {
            String size = PoliciesText.sizes(run).getLast();
            for (String policy : PoliciesText.policies(run)) {
                double bytes = PoliciesText.number(run, PoliciesText.BYTES, policy, size);
                rows.add(List.of(policy, number("%.2f", bytes), number("%.2f", bytes * PUBLISHED_ITEMS / GIGABYTE),
                        published(figure, policy, "memory", "%.2f")));
            }
        }
        return table(figure, List.of("policy", "bytes per item", "GB for 150 million", "published, GB"), rows,
                rows.isEmpty()
                        ? List.of()
                        : List.of(
                                "At the largest measured cache. Our policies except TBF, BFD and RANDOM keep 64 bits of each key's "
                                        + "hash; the paper's policies keep 8-byte keys."));
    }

    /** Table VI: simulated here, by theory here and at the paper's size, and published. */
    static PaperTable hitRates(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String size : PoliciesText.sizes(run)) {
                for (String policy : PoliciesText.policies(run)) {
                    String metric = run.run().workload() + " " + size;
                    rows.add(List.of(run.run().workload(), size, policy, percent(run, PoliciesText.HITS, policy, size),
                            percent(run, PoliciesText.THEORY, policy, size),
                            percent(run, PoliciesText.PUBLISHED_SIZE_THEORY, policy, size),
                            published(figure, policy + " simulated", metric, "%.1f"),
                            published(figure, policy + " observed", metric, "%.1f"),
                            number("%.2f", PoliciesText.number(run, PoliciesText.TRAVERSED, policy, size)),
                            published(figure, policy + " traversed", metric, "%.2f")));
                }
            }
        }
        return table(figure,
                List.of("requests", "cache", "policy", "simulated, %", "theory", "theory, 1.5 billion keys",
                        "published, simulated", "published, observed", "keys visited", "published, visited"),
                rows, List.of());
    }

    /** Figures 4 and 5: misses over LRU's. */
    static PaperTable missRates(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        List<String> policies = runs.isEmpty() ? List.of() : PoliciesText.policies(runs.getFirst());
        for (RunRecord run : runs) {
            for (String size : PoliciesText.sizes(run)) {
                List<String> row = new ArrayList<>(List.of(run.run().workload(), size));
                policies.forEach(policy -> row.add(
                        number("%.3f", PoliciesText.number(run, PoliciesText.MISSES_OVER_LRU, policy, size))));
                rows.add(row);
            }
        }
        List<String> head = new ArrayList<>(List.of("requests", "cache"));
        head.addAll(policies);
        return table(figure, head, rows, List.of());
    }

    /** Figure 2: keys that are visited by searches of at most this many steps. */
    static PaperTable traversal(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        List<Integer> limits = List.of(1, 2, 5, 10, 20, 50, 100, 1000);
        for (RunRecord run : runs) {
            for (String size : PoliciesText.sizes(run)) {
                for (String policy : PoliciesText.policies(run)) {
                    if (policy.startsWith("tbf") || policy.startsWith("clock") || policy.equals("bfd")) {
                        List<String> row = new ArrayList<>(List.of(run.run().workload(), size, policy));
                        limits.forEach(limit -> row.add(number("%,.0f", run.number(
                                PoliciesText.name(PoliciesText.VISITED_WITHIN, policy, size) + " " + limit))));
                        rows.add(row);
                    }
                }
            }
        }
        List<String> head = new ArrayList<>(List.of("requests", "cache", "policy"));
        limits.forEach(limit -> head.add("within " + limit));
        return table(figure, head, rows, rows.isEmpty()
                ? List.of()
                : List.of(
                        "Keys visited by all searches of at most so many steps. CLOCK visits keys in its own order, which it "
                                + "keeps in memory."));
    }

    /** Figure 3: marked keys that are treated as unmarked. */
    static PaperTable falseNegatives(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String size : PoliciesText.sizes(run)) {
                for (String policy : PoliciesText.policies(run)) {
                    double ratio = PoliciesText.number(run, PoliciesText.FALSE_NEGATIVES, policy, size);
                    if (Double.isFinite(ratio)) {
                        rows.add(List.of(run.run().workload(), size, policy, number("%.2f", WHOLE * ratio)));
                    }
                }
            }
        }
        return table(figure,
                List.of("requests", "cache", "policy", "marked keys treated as unmarked, % of all visited keys"), rows,
                List.of());
    }

    /** Table VI: observed and simulated here, and published. */
    static PaperTable observed(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String size : PoliciesText.sizes(run)) {
                for (String policy : PoliciesText.policies(run)) {
                    String metric = run.run().workload() + " " + size;
                    rows.add(List.of(run.run().workload(), size, policy,
                            percent(run, PoliciesText.SIMULATED, policy, size),
                            percent(run, PoliciesText.HITS, policy, size),
                            published(figure, policy + " simulated", metric, "%.1f"),
                            published(figure, policy + " observed", metric, "%.1f"),
                            number("%.2f", PoliciesText.number(run, PoliciesText.TRAVERSED, policy, size)),
                            published(figure, policy + " traversed", metric, "%.2f")));
                }
            }
        }
        return table(figure, List.of("requests", "cache", "policy", "simulated, %", "observed", "published, simulated",
                "published, observed", "keys visited", "published, visited"), rows, List.of());
    }

    /** Figure 7: requests a second, and their ratio to those without a cache. */
    static PaperTable operations(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String size : PoliciesText.sizes(run)) {
                double without = PoliciesText.number(run, PoliciesText.OPS, "none", size);
                for (String policy : PoliciesText.policies(run)) {
                    double ops = PoliciesText.number(run, PoliciesText.OPS, policy, size);
                    rows.add(List.of(run.run().workload(), size, policy, number("%,.0f", ops),
                            number("%.2f", ops / without),
                            published(figure, policy, run.run().workload() + " " + size, "%.0f")));
                }
            }
        }
        return table(figure,
                List.of("requests", "cache", "policy", "requests/s", "ratio to none", "published, requests/s"),
                rows, List.of());
    }

    private static String percent(RunRecord run, String metric, String policy, String size) {
        return number("%.2f", WHOLE * PoliciesText.number(run, metric, policy, size));
    }

    private static String published(Figure figure, String group, String metric, String format) {
        List<Published> all = figure.published() == null ? List.of() : figure.published();
        return all.stream().filter(each -> each.group().equals(group) && each.metric().equals(metric))
                .map(Published::mean).filter(java.util.Objects::nonNull).map(value -> number(format, value)).findFirst()
                .orElse(NONE);
    }

    private static String number(String format, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, format, value) : NONE;
    }
}
