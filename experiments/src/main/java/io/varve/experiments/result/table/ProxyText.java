package io.varve.experiments.result.table;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import org.jspecify.annotations.Nullable;

/**
 * The names of the numbers about the proxy, and their table for a terminal. Stateless. A number has a load, such as
 * {@code unif-16}, and a way to the members, such as {@link #DIRECT}.
 */
public final class ProxyText {
    /** The way of clients that know the slots. */
    public static final String DIRECT = "direct";
    /** Requests a second. */
    public static final String OPS = "cluster_ops";
    /** CPU time of a request in members and proxy, µs. */
    public static final String CPU = "cluster_cpu_us_per_op";
    /** Of that, the part of the proxy. */
    public static final String PROXY_CPU = "proxy_cpu_us_per_op";
    /** Median time of a batch, µs. */
    public static final String P50 = "batch_p50_us";
    public static final String P99 = "batch_p99_us";

    private ProxyText() {}

    private static String name(String metric, String load, String way) {
        return metric + " " + load + " " + way;
    }

    /** Stores the median, the least and the greatest value of the rounds. */
    public static void put(RunMetrics metrics, String metric, String load, String way, MedianRange range) {
        metrics.put(name(metric, load, way), range);
    }

    /** Whether the run is of this kind. */
    public static boolean isIn(RunRecord run) {
        return run.measured().keySet().stream().anyMatch(name -> name.startsWith(OPS + " "));
    }

    static String table(List<RunRecord> runs) {
        StringBuilder text = new StringBuilder();
        for (RunRecord run : runs) {
            text.append('\n').append(run.run().id());
            Summary.appendOutcome(text, run);
            text.append(String.format(Locale.ROOT, "  %-10s %-12s %34s %12s %12s %12s %12s%n", "load", "way",
                    "requests/s (range)", "CPU, us/op", "of the proxy", "p50, us", "p99, us"));
            for (String place : places(run)) {
                String[] words = place.split(" ", -1);
                text.append(String.format(Locale.ROOT, "  %-10s %-12s %34s %12s %12s %12s %12s%n", words[0], words[1],
                        LocksText.text(run.range(OPS + " " + place), "%,.0f"), median(run, CPU, place, "%.2f"),
                        median(run, PROXY_CPU, place, "%.2f"), median(run, P50, place, "%,.0f"),
                        median(run, P99, place, "%,.0f")));
            }
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    /** Loads and ways in the order of their measurement, as {@code LOAD WAY}. */
    private static List<String> places(RunRecord run) {
        Set<String> places = new LinkedHashSet<>();
        for (String name : run.measured().keySet()) {
            String[] words = name.split(" ", -1);
            if (words[0].equals(OPS) && words.length > 2) {
                places.add(words[1] + " " + words[2]);
            }
        }
        return List.copyOf(places);
    }

    private static String median(RunRecord run, String metric, String place, String format) {
        @Nullable
        MedianRange range = run.range(metric + " " + place);
        return range == null ? "-" : String.format(Locale.ROOT, format, range.median());
    }
}
