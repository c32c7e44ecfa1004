package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.varve.experiments.result.RunRecord;

/** The names of the numbers about replacement policies, and their table for a terminal. Stateless. */
public final class PoliciesText {
    /** Metrics of a policy in a cache of a size; ratios from 0 to 1. */
    public static final String HITS = "hit_ratio";
    /** Number of keys that the cache holds. */
    public static final String CAPACITY = "cached_keys";
    public static final String THEORY = "theory_hit_ratio";
    public static final String MISSES_OVER_LRU = "misses_over_lru";
    public static final String TRAVERSED = "keys_traversed_per_eviction";
    public static final String POOR = "poor_victims_per_eviction";
    public static final String BYTES = "policy_bytes_per_item";
    public static final String FALSE_NEGATIVES = "false_negative_ratio";
    /** For an observed real cache: the simulated ratio for its requests, and its speed. */
    public static final String SIMULATED = "simulated_hit_ratio";
    public static final String OPS = "ops_per_second";
    /** Seconds that the slowest client spent keeping files out of the page cache; {@link #OPS} excludes them. */
    public static final String ADVICE = "advice_seconds";
    /** Bytes that the process read from the device for a request. */
    public static final String DEVICE_BYTES = "device_read_bytes_per_request";
    /** Heap in use and resident memory of a JVM with a filled policy; the size is {@link #FILLED}. */
    public static final String HEAP = "java_heap_bytes";
    public static final String RESIDENT = "resident_bytes";
    /** Keys that were visited by searches of at most this many steps; the limit is at the name's end. */
    public static final String VISITED_WITHIN = "keys_visited_within";
    /** Theory at the paper's own number of keys. */
    public static final String PUBLISHED_SIZE_THEORY = "theory_hit_ratio_at_published_size";

    /** The size in the names of the memory of a filled policy. */
    public static final String FILLED = "filled";

    private static final String HEAD = HITS + " ";
    private static final double WHOLE = 100;

    private PoliciesText() {}

    /** The name of a number. */
    public static String name(String metric, String policy, String size) {
        return metric + " " + policy + " " + size;
    }

    /** The name of a cache's size, such as {@code 0.5%}. */
    public static String size(double percent) {
        return (percent == Math.rint(percent) ? Long.toString((long) percent) : Double.toString(percent)) + "%";
    }

    public static double number(RunRecord run, String metric, String policy, String size) {
        return run.number(name(metric, policy, size));
    }

    public static boolean isIn(List<RunRecord> runs) {
        return runs.stream().anyMatch(run -> run.measured().keySet().stream().anyMatch(name -> name.startsWith(HEAD)));
    }

    /** In the order of their measurement. */
    public static List<String> policies(RunRecord run) {
        return words(run, 1);
    }

    /** In the order of their measurement. */
    public static List<String> sizes(RunRecord run) {
        return words(run, 2);
    }

    /** The policies whose memory a run has measured, in the order of their measurement. */
    public static List<String> filled(RunRecord run) {
        String head = BYTES + " ";
        String tail = " " + FILLED;
        return run.measured().keySet().stream().filter(name -> name.startsWith(head) && name.endsWith(tail))
                .map(name -> name.substring(head.length(), name.length() - tail.length())).toList();
    }

    private static List<String> words(RunRecord run, int place) {
        Set<String> words = new LinkedHashSet<>();
        run.measured().keySet().stream().filter(name -> name.startsWith(HEAD))
                .forEach(name -> words.add(name.split(" ", -1)[place]));
        return new ArrayList<>(words);
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder();
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT, "%n%s%n%6s  %-12s %8s %8s %9s %11s %10s %13s %10s %11s %10s%n",
                    run.run().id(), "cache", "policy", "hits, %", "theory", "simulated", "miss / LRU", "visited",
                    "poor victims",
                    "bytes/key", "lost marks", "requests/s"));
            for (String size : sizes(run)) {
                for (String policy : policies(run)) {
                    text.append(String.format(Locale.ROOT, "%6s  %-12s %8s %8s %9s %11s %10s %13s %10s %11s %10s%n",
                            size, policy,
                            percent("%.2f", number(run, HITS, policy, size)),
                            percent("%.2f", number(run, THEORY, policy, size)),
                            percent("%.2f", number(run, SIMULATED, policy, size)),
                            format("%.3f", number(run, MISSES_OVER_LRU, policy, size)),
                            format("%.2f", number(run, TRAVERSED, policy, size)),
                            percent("%.3f%%", number(run, POOR, policy, size)),
                            format("%.2f", number(run, BYTES, policy, size)),
                            percent("%.2f%%", number(run, FALSE_NEGATIVES, policy, size)),
                            format("%,.0f", number(run, OPS, policy, size))));
                }
            }
            if (run.outcome() != RunRecord.Outcome.OK) {
                text.append("  ").append(run.outcome()).append(": ").append(String.join("; ", run.faults()))
                        .append('\n');
            }
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String percent(String how, double value) {
        return format(how, WHOLE * value);
    }

    private static String format(String how, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}
