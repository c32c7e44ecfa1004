package io.varve.experiments.result.table;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import io.varve.experiments.result.RunRecord;

/** The names of the warm-up experiment's numbers, and their tables for a terminal. Stateless. */
public final class WarmUpText {
    public static final String START = LatencyText.START;
    /** Requests of the schedule, and the share that the generator could not measure. */
    public static final String REQUESTS = "requests";
    public static final String DISTURBED = "requests_disturbed_percent";
    /** Seconds after the start until the throughput is nearly that of the end. */
    public static final String WARM_AFTER = "seconds_until_warm";
    /** Replaces the server's name for ours over the baseline's: a median of the repetitions. */
    public static final String SHARE = "share";

    private static final String TEST = "first_pass_ops ";
    private static final String SECOND = "ops_of_second ";
    /** A server is warm from the second on that has this share of the final throughput. */
    private static final double WARM = 0.9;
    /** The final throughput is the mean of the last seconds, this share of all. */
    private static final int FINAL = 4;
    private static final double THOUSAND = 1000;

    private WarmUpText() {}

    /** The name of a number. */
    public static String name(String metric, String server) {
        return metric + " " + server;
    }

    /** The metric of a test's throughput. */
    public static String ofTest(String test) {
        return TEST + test;
    }

    /** The metric of a second's throughput. */
    public static String ofSecond(int second) {
        return SECOND + second;
    }

    /** The text of the check of a test. */
    public static String check(String test, String baseline) {
        return test + " after a start: throughput, share of " + baseline + "'s";
    }

    /** Whether the run is of this kind. */
    public static boolean isIn(RunRecord run) {
        return run.measured().keySet().stream().anyMatch(name -> name.startsWith(TEST));
    }

    /** The tests in the order of their execution. */
    public static List<String> tests(Map<String, Double> measured, String server) {
        return measured.keySet().stream().filter(name -> name.startsWith(TEST) && name.endsWith(" " + server))
                .map(name -> name.substring(TEST.length(), name.length() - server.length() - 1)).toList();
    }

    /** The run's own server and the baseline that it was measured with. */
    public static List<String> servers(RunRecord run, List<String> baselines) {
        List<String> servers = new ArrayList<>(List.of(run.run().configuration()));
        baselines.stream().filter(name -> run.measured().containsKey(name(ofSecond(1), name))).forEach(servers::add);
        return servers;
    }

    /** The throughput of each second. */
    public static List<Double> bySecond(RunRecord run, String server) {
        List<Double> ops = new ArrayList<>();
        for (int second = 1; run.measured().containsKey(name(ofSecond(second), server)); second++) {
            ops.add(run.number(name(ofSecond(second), server)));
        }
        return ops;
    }

    /** The first second whose throughput is nearly that of the end, from 1; NaN without measurements. */
    public static double secondsUntilWarm(List<Double> bySecond) {
        int last = Math.max(1, bySecond.size() / FINAL);
        double end = bySecond.stream().skip(bySecond.size() - (long) Math.min(last, bySecond.size()))
                .mapToDouble(Double::doubleValue).average().orElse(Double.NaN);
        for (int i = 0; i < bySecond.size(); i++) {
            if (bySecond.get(i) >= WARM * end) {
                return i + 1.0;
            }
        }
        return Double.NaN;
    }

    static String table(List<RunRecord> runs, List<String> baselines) {
        StringBuilder text = new StringBuilder();
        for (RunRecord run : runs) {
            text.append('\n').append(run.run().id());
            Summary.appendOutcome(text, run);
            List<String> servers = servers(run, baselines);
            text.append(String.format(Locale.ROOT, "  %-10s %8s %14s %14s %14s %9s %9s%n", "server", "start s",
                    "1st s, k ops/s", "5th s, k ops/s", "last, k ops/s", "warm at s", "p99 us"));
            for (String server : servers) {
                List<Double> ops = bySecond(run, server);
                text.append(String.format(Locale.ROOT, "  %-10s %8s %14s %14s %14s %9s %9s%n", server,
                        format("%.2f", run.number(name(START, server))), second(ops, 1), second(ops, 5),
                        second(ops, ops.size()), format("%.0f", run.number(name(WARM_AFTER, server))),
                        format("%,.0f", run.number(name(LatencyText.P99, server)))));
            }
            text.append(String.format(Locale.ROOT, "  %-14s", "first pass"));
            servers.forEach(server -> text.append(String.format(Locale.ROOT, " %14s", server + ", ops/s")));
            text.append(String.format(Locale.ROOT, " %8s%n", SHARE));
            for (String test : tests(run.measured(), run.run().configuration())) {
                text.append(String.format(Locale.ROOT, "  %-14s", test));
                servers.forEach(server -> text.append(String.format(Locale.ROOT, " %14s",
                        format("%,.0f", run.number(name(ofTest(test), server))))));
                text.append(String.format(Locale.ROOT, " %8s%n",
                        format("%.3f", run.number(name(ofTest(test), SHARE)))));
            }
            Summary.appendChecks(text, run);
        }
        return text.append('\n').toString();
    }

    private static String second(List<Double> ops, int second) {
        return second < 1 || second > ops.size() ? "-" : format("%,.0f", ops.get(second - 1) / THOUSAND);
    }

    private static String format(String how, double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, how, value) : "-";
    }
}
