package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.Experiment.Published;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunRecord;

/** The figures and tables of the TBF paper as tables, with the published values. Stateless. */
final class FlashTables {
    private static final String NONE = "-";
    private static final double WHOLE = 100;
    private static final double GIGABYTE = 1e9;
    private static final double GIBIBYTE = 1L << 30;
    /** The size of the cache in Table II: 2 TB. */
    private static final double PUBLISHED_CACHE = 1L << 41;
    private static final Map<String, Integer> OBJECT_SIZES = objectSizes();
    /** Number of items in the paper's cache. */
    private static final double PUBLISHED_ITEMS = 150e6;

    private FlashTables() {}

    private static Map<String, Integer> objectSizes() {
        Map<String, Integer> sizes = new LinkedHashMap<>();
        sizes.put("1 MB", 1 << 20);
        sizes.put("4 KB", 4 << 10);
        sizes.put("1 KB", 1 << 10);
        sizes.put("256 B", 256);
        return sizes;
    }

    private static PaperTable table(Figure figure, List<String> head, List<List<String>> rows, List<String> notes) {
        return new PaperTable(figure.id(), figure.title(), head, rows, figure.says() == null ? "" : figure.says(),
                notes);
    }

    /** Table I: bits per cached object, measured, and the paper's minimum for as many objects. */
    static PaperTable bits(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String policy : PoliciesText.filled(run)) {
                double bits = Byte.SIZE * PoliciesText.number(run, PoliciesText.BYTES, policy, PoliciesText.FILLED);
                double pointer = Math.log(items(run)) / Math.log(2);
                rows.add(List.of(policy, number("%,.0f", items(run)), number("%.2f", bits),
                        minimum(policy, pointer), published(figure, policy, "bits", "%.0f"),
                        published(figure, policy, "pointers", "%.0f")));
            }
        }
        return table(figure,
                List.of("policy", "objects", "measured, bits per object", "the paper's minimum at as many objects",
                        "published, bits", "published, multiples of lg(N)"),
                rows, rows.isEmpty()
                        ? List.of()
                        : List.of("Measured: all memory of the policy, divided by its objects. An index has 64 bits "
                                + "of each key's hash and two references of 32 bits. A list has two references more. "
                                + "TBF, BFD and RANDOM have no index. The key-value store's own memory is not "
                                + "included."));
    }

    /** LRU: a key and two pointers. CLOCK: a key and a bit. */
    private static String minimum(String policy, double pointer) {
        return switch (policy) {
            case "lru" -> number("%.1f", 3 * pointer);
            case "clock", "clock-marked" -> number("%.1f", pointer + 1);
            case "tbf", "tbf-marked", "bfd", "bfd-marked" -> number("%.1f", Byte.SIZE);
            default -> NONE;
        };
    }

    private static double items(RunRecord run) {
        return Double.parseDouble(run.load().getOrDefault("keys", "NaN"));
    }

    /** Table II: the measured memory of an object, times the objects of a cache of 2 TB. */
    static PaperTable metadata(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String policy : PoliciesText.filled(run)) {
                double bytes = PoliciesText.number(run, PoliciesText.BYTES, policy, PoliciesText.FILLED);
                List<String> row = new ArrayList<>(List.of(policy, number("%.2f", bytes),
                        published(figure, policy, "overhead", "%.0f")));
                OBJECT_SIZES.forEach((name, size) -> {
                    row.add(number("%,.3f", bytes * PUBLISHED_CACHE / size / GIBIBYTE));
                    row.add(published(figure, policy, name, "%.3f"));
                });
                rows.add(row);
            }
        }
        List<String> head = new ArrayList<>(List.of("policy", "bytes per object", "published"));
        OBJECT_SIZES.keySet().forEach(name -> head.addAll(List.of("objects of " + name + ", GB", "published")));
        return table(figure, head, rows, rows.isEmpty()
                ? List.of()
                : List.of("The measured bytes per object, times the number of objects. As in the paper, 2 TB are 2^41 "
                        + "bytes and a GB is 2^30."));
    }

    /** Table V: the memory of a policy, and of the JVM that holds it. */
    static PaperTable memory(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            double base = PoliciesText.number(run, PoliciesText.RESIDENT, "none", PoliciesText.FILLED);
            for (String policy : PoliciesText.filled(run)) {
                double bytes = PoliciesText.number(run, PoliciesText.BYTES, policy, PoliciesText.FILLED);
                double resident = PoliciesText.number(run, PoliciesText.RESIDENT, policy, PoliciesText.FILLED);
                double heap = PoliciesText.number(run, PoliciesText.HEAP, policy, PoliciesText.FILLED);
                rows.add(List.of(policy, number("%,.0f", items(run)), number("%.3f", bytes * items(run) / GIGABYTE),
                        number("%.3f", heap / GIGABYTE), number("%.3f", resident / GIGABYTE),
                        number("%.2f", bytes * PUBLISHED_ITEMS / GIGABYTE),
                        number("%.2f", (base + bytes * PUBLISHED_ITEMS) / GIGABYTE),
                        published(figure, policy, "memory", "%.2f"), published(figure, policy, "heap", "%.1f"),
                        published(figure, policy, "os", "%.1f")));
            }
        }
        return table(figure,
                List.of("policy", "items", "policy, GB", "Java heap in use, GB", "resident, GB",
                        "policy at 150 million, GB", "resident at 150 million, GB", "published: policy, GB",
                        "published: Java heap", "published: operating system"),
                rows,
                rows.isEmpty()
                        ? List.of()
                        : List.of("A new JVM for each policy, without a key-value store. Our policies keep their data "
                                + "outside the Java heap, except the bits of CLOCK and SIEVE. The paper's keep it "
                                + "inside, and its heap has the stores' caches too. The paper's values are the "
                                + "configured sizes of a heap and a machine.",
                                "The resident memory at 150 million items is that of a JVM without a policy, and the "
                                        + "measured bytes per item."));
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

    /** Figure 5: misses over LRU's. */
    static PaperTable missRates(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        Set<String> policies = new LinkedHashSet<>();
        runs.forEach(run -> policies.addAll(PoliciesText.policies(run)));
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

    /** Figure 4: hit ratios, and misses over LRU's. */
    static PaperTable hitsAndMisses(Figure figure, List<RunRecord> runs) {
        List<List<String>> rows = new ArrayList<>();
        for (RunRecord run : runs) {
            for (String size : PoliciesText.sizes(run)) {
                for (String policy : PoliciesText.policies(run)) {
                    rows.add(List.of(run.run().workload(), size,
                            number("%,.0f", PoliciesText.number(run, PoliciesText.CAPACITY, policy, size)), policy,
                            percent(run, PoliciesText.HITS, policy, size),
                            percent(run, PoliciesText.MISSES_OVER_LRU, policy, size)));
                }
            }
        }
        return table(figure, List.of("requests", "cache", "cached keys", "policy", "(a) hits, %",
                "(b) misses, % of LRU's"), rows, List.of());
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
                    String distribution = run.load().getOrDefault("distribution", run.run().workload());
                    rows.add(List.of(run.run().workload(), run.load().getOrDefault("page-cache", "yes"), size, policy,
                            percent(run, PoliciesText.HITS, policy, size), number("%,.0f", ops),
                            number("%.2f", ops / without),
                            number("%.2f", PoliciesText.number(run, PoliciesText.ADVICE, policy, size)),
                            number("%,.0f", PoliciesText.number(run, PoliciesText.DEVICE_BYTES, policy, size)),
                            published(figure, policy, distribution + " " + size, "%.0f")));
                }
            }
        }
        return table(figure,
                List.of("requests", "in the page cache", "cache", "policy", "hits, %", "requests/s", "ratio to none",
                        "excluded, s", "device bytes read per request", "published, requests/s"),
                rows, rows.isEmpty()
                        ? List.of()
                        : List.of("In the page cache: yes is all files; flash is those of the cache on flash, so each "
                                + "miss reads from the device; no is none, so each read of a record does.",
                                "Excluded: seconds that the slowest client spent in posix_fadvise, which requests/s "
                                        + "does not count."));
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
