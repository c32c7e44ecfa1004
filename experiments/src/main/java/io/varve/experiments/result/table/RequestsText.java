package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import io.varve.experiments.result.RunRecord;

/** The names of the numbers about the paper's requests, and their table for a terminal. Stateless. */
public final class RequestsText {
    /** The tests of one client. */
    public static final String READ = "read";
    public static final String WRITE = "write";
    /** Metrics of a test and a server. */
    public static final String MEAN = "mean_us";
    public static final String P50 = "p50_us";
    public static final String P95 = "p95_us";
    public static final String P99 = "p99_us";
    public static final String P999 = "p999_us";
    public static final String OPS = "ops";
    public static final String CPU = "server_cpu_us_per_op";
    public static final String BUSY = "server_busy_percent";
    public static final String MISSES_PER_OP = "cache_misses_per_op";
    /** A server's misses by function; the function's name replaces the test's. */
    public static final String MISSES_PERCENT = "cache_misses_percent";
    /** Time of a request in process, µs; followed by the test. */
    public static final String IN_PROCESS = "in_process_us";
    /** Replaces the server's name for a metric of ours over the rival's: a median of the repetitions. */
    public static final String OVER_RIVAL = "over_rival";
    /** In the run's load: the reason why cache misses were not counted. */
    public static final String NO_MISSES = "cache-misses";

    /** The load's keys with the simulation that stands for a counter of cache misses, or why there is none. */
    public static final String SIMULATED = "cache-misses-simulated";
    public static final String NOT_SIMULATED = "cache-misses-not-simulated";

    private static final String HEAD = OPS + " ";

    private RequestsText() {}

    /** The name of a number. */
    public static String name(String metric, String test, String server) {
        return metric + " " + test + " " + server;
    }

    public static double number(RunRecord run, String metric, String test, String server) {
        return run.number(name(metric, test, server));
    }

    /** Whether the run is of this kind. */
    public static boolean isIn(RunRecord run) {
        return run.measured().keySet().stream().anyMatch(name -> name.startsWith(HEAD));
    }

    /** The tests of a run in the order of their execution; those of one client first. */
    public static List<String> tests(RunRecord run) {
        List<String> tests = new ArrayList<>();
        String ours = " " + run.run().configuration();
        for (String name : run.measured().keySet()) {
            if (name.startsWith(HEAD) && name.endsWith(ours)) {
                tests.add(name.substring(HEAD.length(), name.length() - ours.length()));
            }
        }
        return tests;
    }

    /** The end of a test's name, by the number of requests that a client sends at once. */
    public static String ofPipeline(int requests) {
        return requests == 1 ? "" : ", pipeline " + requests;
    }

    /** Whether a test has one client. */
    public static boolean isSingle(String test) {
        return test.equals(READ) || test.equals(WRITE);
    }

    static String table(List<RunRecord> runs, List<String> rivals) {
        StringBuilder text = new StringBuilder(
                String.format(Locale.ROOT, "%n%-8s %-28s %-8s %10s %9s %9s %9s %12s %10s%n",
                        "set", "test", "server", "ops/s", "mean us", "p50 us", "p99 us", "CPU us/op", "busy %"));
        for (RunRecord run : runs) {
            List<String> servers = new ArrayList<>(List.of(run.run().configuration()));
            servers.addAll(rivals);
            for (String test : tests(run)) {
                for (String server : servers) {
                    if (Double.isFinite(number(run, OPS, test, server))) {
                        text.append(
                                String.format(Locale.ROOT, "%-8s %-28s %-8s %,10.0f %9.2f %9.2f %9.2f %12.3f %10.1f%n",
                                        run.run().workload(), test, server, number(run, OPS, test, server),
                                        number(run, MEAN, test, server), number(run, P50, test, server),
                                        number(run, P99, test, server), number(run, CPU, test, server),
                                        number(run, BUSY, test, server)));
                    }
                }
            }
            Summary.appendChecks(text, run);
        }
        return text.toString();
    }
}
