package io.varve.experiments.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.experiments.definition.Experiment.Figure;
import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.MedianRange;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.table.CleanerText;
import io.varve.experiments.result.table.FragmentationText;
import io.varve.experiments.result.table.LatencyText;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.PenaltyText;
import io.varve.experiments.result.table.PoliciesText;
import io.varve.experiments.result.table.RequestsText;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.result.table.TieredText;
import io.varve.experiments.result.table.WarmUpText;
import org.jspecify.annotations.Nullable;

/**
 * A bar chart of one number of every server, with the target. Immutable.
 *
 * @param file name of the image, without its suffix
 * @param title human-readable title
 * @param unit the unit of the values
 * @param names the names of the columns; text after a comma is drawn on a second line
 * @param series one per server
 * @param targets one per column; null where there is none
 */
record Columns(String file, String title, String unit, List<String> names, List<Series> series,
        List<@Nullable Double> targets) {
    static final String PUBLISHED_OURS = "published: Redis++";
    static final String PUBLISHED_RIVAL = "published: Redis";
    private static final String PER_KEY = "resident_bytes_per_key";
    private static final double MEGABYTE = 1e6;
    private static final double MILLI = 1e3;
    private static final double THOUSAND = 1e3;
    private static final String PER_KEY_CHECK = "resident bytes per key";

    /**
     * The values of one server.
     *
     * @param name its configuration's
     * @param values one per column; null where nothing was measured
     * @param ranges the repetitions of each value; null where there are none
     */
    record Series(String name, List<@Nullable Double> values, List<@Nullable MedianRange> ranges) {}

    static List<Columns> of(Plan plan, Summary summary) {
        List<Columns> all = new ArrayList<>();
        addRequests(all, plan, summary);
        for (RunRecord run : summary.runs()) {
            if (!run.cells().isEmpty()) {
                if (plan.kind(run.run()) == Kind.WRITE_AHEAD_LOG) {
                    DurableStoreColumns.addLog(all, plan, run);
                    continue;
                }
                all.add(cpu(run));
                if (run.cells().stream().anyMatch(cell -> cell.ratio() != null)) {
                    all.add(ratios(run));
                }
            }
        }
        if (summary.runs().stream().anyMatch(run -> run.measured().containsKey(PER_KEY))) {
            all.add(perKey(summary));
        }
        addAllocators(all, plan, summary);
        addFragmentation(all, plan, summary);
        addLatency(all, summary);
        addCleaner(all, plan, summary);
        addPolicies(all, summary);
        FlashColumns.add(all, plan, summary);
        addTiered(all, summary);
        addPenalty(all, plan, summary);
        addFirstPass(all, summary);
        DurableStoreColumns.addLocks(all, plan, summary);
        ReplicationColumns.add(all, summary);
        return all;
    }

    private static void addLatency(List<Columns> all, Summary summary) {
        if (summary.runs().stream().noneMatch(run -> run.measured().containsKey(LatencyText.P9999))) {
            return;
        }
        all.add(byWorkload(summary, LatencyText.P50, 1, null).columns("latency-p50", "Median latency", "µs"));
        all.add(byWorkload(summary, LatencyText.P99, 1, null).columns("latency-p99", "99th percentile of the latency",
                "µs"));
        all.add(byWorkload(summary, LatencyText.P999, 1, null)
                .columns("latency-p999", "99.9th percentile of the latency", "µs"));
        all.add(byWorkload(summary, LatencyText.P9999, 1, null)
                .columns("latency-p9999", "99.99th percentile of the latency", "µs"));
        all.add(byWorkload(summary, LatencyText.MAX, MILLI, null).columns("latency-max", "Maximum latency", "ms"));
        all.add(byWorkload(summary, LatencyText.HICCUP, 1, LatencyText.HICCUP_CHECK)
                .columns("hiccup", "Longest hiccup of the server's process", "ms"));
        all.add(byWorkload(summary, LatencyText.JVM_PAUSE, 1, LatencyText.JVM_PAUSE_CHECK)
                .columns("jvm-pause", "Longest pause in the JVM's log", "ms"));
        all.add(byWorkload(summary, LatencyText.START, 1, LatencyText.START_CHECK)
                .columns("start", "Time from the command to the first reply", "s"));
        all.add(byWorkload(summary, RunMetrics.CPU_PER_OPERATION, 1, null)
                .columns("cpu", "Server's CPU time per operation", "µs"));
    }

    /** The paper's Figures 7 and 8, with its printed values, and the server's time for a request. */
    private static void addRequests(List<Columns> all, Plan plan, Summary summary) {
        List<RunRecord> runs = summary.runs().stream().filter(RequestsText::isIn).toList();
        if (runs.isEmpty()) {
            return;
        }
        all.add(requests(plan, runs, true, RequestsText.MEAN, 1, "delay").columns("figure-7",
                "Figure 7: mean delay of one client's requests", "µs"));
        all.add(requests(plan, runs, false, RequestsText.OPS, THOUSAND, "throughput").columns("figure-8",
                "Figure 8: throughput of many clients", "thousand requests/s"));
        all.add(requests(plan, runs, false, RequestsText.CPU, 1, "").columns("figure-8-cpu",
                "The server's CPU time per request under the loads of Figure 8", "µs"));
    }

    /** @param shows selects the figure with the published values */
    private static Grid requests(Plan plan, List<RunRecord> runs, boolean single, String metric, double unit,
            String shows) {
        Grid grid = new Grid();
        List<Figure> figures = plan.experiment().figures();
        for (RunRecord run : runs) {
            for (String test : RequestsText.tests(run)) {
                if (RequestsText.isSingle(test) != single) {
                    continue;
                }
                String column = run.run().workload() + ", " + test.replace(" reads", "");
                put(grid, column, run.run().configuration(), unit,
                        RequestsText.number(run, metric, test, run.run().configuration()));
                plan.rival().ifPresent(
                        rival -> put(grid, column, rival, unit, RequestsText.number(run, metric, test, rival)));
                for (Figure figure : figures == null ? List.<Figure>of() : figures) {
                    if (shows.equals(figure.shows())) {
                        String row = run.run().workload() + " " + test;
                        put(grid, column, PUBLISHED_OURS, unit, PaperTables.value(figure, "Redis++", row));
                        put(grid, column, PUBLISHED_RIVAL, unit, PaperTables.value(figure, "Redis", row));
                    }
                }
            }
        }
        return grid;
    }

    private static void put(Grid grid, String column, String server, double unit, @Nullable Double value) {
        if (value != null && Double.isFinite(value)) {
            grid.put(column, server, value / unit);
        }
    }

    private static void addAllocators(List<Columns> all, Plan plan, Summary summary) {
        List<Figure> figures = plan.experiment().figures();
        Grid grid = byWorkload(summary, FragmentationText.LIVE_FROM_FRESH, 1, null);
        if (figures != null && figures.stream().anyMatch(figure -> "allocators".equals(figure.shows()))
                && !grid.names.isEmpty()) {
            all.add(grid.columns("figure-1",
                    "Figure 1: live payload / growth of the process since its start", "share"));
        }
    }

    private static void addFragmentation(List<Columns> all, Plan plan, Summary summary) {
        if (summary.runs().stream().noneMatch(run -> run.measured().containsKey(FragmentationText.LIVE))) {
            return;
        }
        all.add(byWorkload(summary, FragmentationText.LIVE, 1, FragmentationText.LIVE_CHECK)
                .columns("live-share",
                        FigureNumber.before("Live payload / (resident bytes - resident bytes when empty)",
                                plan, "", "Figure 5"),
                        "share"));
        all.add(byWorkload(summary, FragmentationText.OF_RESIDENT, 1, null)
                .columns("live-share-of-process", "Live payload / all resident bytes", "share"));
        all.add(byWorkload(summary, FragmentationText.PEAK, MEGABYTE, FragmentationText.PEAK_CHECK)
                .columns("peak-resident", "Peak resident memory of the process", "MB"));
        all.add(byWorkload(summary, FragmentationText.COPIED, 1, FragmentationText.COPIED_CHECK)
                .columns("bytes-copied", "Bytes copied per byte written", "bytes"));
        if (summary.runs().stream()
                .anyMatch(run -> run.measured().containsKey(FragmentationText.SECOND_OVER_FIRST))) {
            all.add(byWorkload(summary, FragmentationText.SECOND_OVER_FIRST, 1, FragmentationText.THROUGHPUT_CHECK)
                    .columns("second-over-first", "Throughput of the second load / throughput of the first", "ratio"));
        }
    }

    /**
     * Arranges a number of each run by its workload and configuration.
     *
     * @param check the check whose limit is the target; null for none
     */
    private static Grid byWorkload(Summary summary, String number, double unit, @Nullable String check) {
        Grid grid = new Grid();
        for (RunRecord run : summary.runs()) {
            double value = run.number(number) / unit;
            if (Double.isFinite(value)) {
                grid.put(run.run().workload(), run.run().configuration(), value);
                run.checks().stream().filter(each -> each.what().equals(check))
                        .forEach(each -> grid.targets.put(run.run().workload(), each.limit() / unit));
            }
        }
        return grid;
    }

    /** The paper's Figure 6: a bar for each policy under each load; an image for each number and kind of heads. */
    private static void addCleaner(List<Columns> all, Plan plan, Summary summary) {
        for (boolean byLifetime : new boolean[] {true, false}) {
            String heads = byLifetime ? "open segments by lifetime" : "one open segment";
            String suffix = byLifetime ? "" : "-1-head";
            addCleaner(all, summary, byLifetime, CleanerText.COST, "reclaim-cost" + suffix,
                    FigureNumber.before("Cost of cleaning (ReclaimCost), " + heads, plan, "", "Figure 6"), "sum of u");
            addCleaner(all, summary, byLifetime, CleanerText.MOVED, "bytes-moved" + suffix,
                    "Bytes moved per byte written, " + heads, "bytes");
            addCleaner(all, summary, byLifetime, CleanerText.WITHOUT_MOVING, "without-moving" + suffix,
                    "Share of segments freed without moving a byte, " + heads, "share");
        }
    }

    private static void addTiered(List<Columns> all, Summary summary) {
        if (!TieredText.isIn(summary.runs())) {
            return;
        }
        all.add(byWorkload(summary, TieredText.HITS, 1, null).columns("hits", "Hit ratio", "share"));
        all.add(byWorkload(summary, RunMetrics.THROUGHPUT, 1000, null).columns("throughput",
                "Throughput of clients that wait for each reply",
                "thousand requests/s"));
        all.add(byWorkload(summary, TieredText.P99, 1, null).columns("latency-p99", "99th percentile of the latency",
                "µs"));
        all.add(byWorkload(summary, TieredText.WRITTEN_PER_REQUEST, 1, null).columns("bytes-written",
                "Bytes written to the device per request", "bytes"));
    }

    /** The first pass of redis-benchmark's default tests, as a share of the baseline's. */
    private static void addFirstPass(List<Columns> all, Summary summary) {
        Map<String, Grid> shares = new LinkedHashMap<>();
        for (RunRecord run : summary.runs()) {
            String server = run.run().configuration();
            for (String test : WarmUpText.tests(run.measured(), server)) {
                double share = run.number(WarmUpText.name(WarmUpText.ofTest(test), WarmUpText.SHARE));
                if (Double.isFinite(share)) {
                    Grid grid = shares.computeIfAbsent(run.run().workload(), _ -> new Grid());
                    grid.put(test, server, share);
                    run.checks().stream().filter(check -> check.what().startsWith(test + " "))
                            .forEach(check -> grid.targets.put(test, check.limit()));
                }
            }
        }
        shares.forEach((workload, grid) -> all.add(grid.columns("first-pass_" + workload,
                "Throughput of the first pass after a start / " + String.join(", ", summary.baselines()) + "'s",
                "ratio")));
    }

    /** The penalty paper's Figure 14 and its Table 4. */
    private static void addPenalty(List<Columns> all, Plan plan, Summary summary) {
        if (!PenaltyText.isIn(summary.runs())) {
            return;
        }
        all.add(byWorkload(summary, PenaltyText.SETTLED, 1, null).columns("response-settled",
                FigureNumber.before("Mean response time, second half of the operations", plan, "", "Figure 14"), "µs"));
        all.add(byWorkload(summary, PenaltyText.READ_SETTLED, 1, null).columns("read-response-settled",
                "Mean response time of reads, second half of the operations", "µs"));
        all.add(byWorkload(summary, PenaltyText.RESPONSE, 1, null).columns("response-mean",
                "Mean response time of the whole run", "µs"));
        all.add(byWorkload(summary, PenaltyText.HITS_SETTLED, 0.01, null).columns("hits",
                "Hit ratio, second half of the operations", "%"));
        all.add(byWorkload(summary, PenaltyText.MISS_SECONDS, 1, null).columns("misses-cost",
                "Total time of all misses", "s"));
        all.add(byWorkload(summary, RunMetrics.THROUGHPUT, THOUSAND, null).columns("throughput",
                "Throughput of clients that wait for each reply", "thousand operations/s"));
    }

    /** The TBF paper's Figures 4 and 5: an image for each kind of requests, a bar for each policy at each size. */
    private static void addPolicies(List<Columns> all, Summary summary) {
        for (RunRecord run : summary.runs()) {
            addPolicies(all, run, PoliciesText.HITS, "hits-", "Hit ratio: ", "share");
            addPolicies(all, run, PoliciesText.MISSES_OVER_LRU, "misses-", "Misses / LRU's misses: ", "ratio");
        }
    }

    private static void addPolicies(List<Columns> all, RunRecord run, String metric, String file, String title,
            String unit) {
        Grid grid = new Grid();
        for (String size : PoliciesText.sizes(run)) {
            for (String policy : PoliciesText.policies(run)) {
                double value = PoliciesText.number(run, metric, policy, size);
                if (Double.isFinite(value)) {
                    grid.put(size, policy, value);
                }
            }
        }
        if (!grid.names.isEmpty()) {
            all.add(grid.columns(file + run.run().workload(), title + run.run().workload(), unit));
        }
    }

    private static void addCleaner(List<Columns> all, Summary summary, boolean byLifetime, String number, String file,
            String title, String unit) {
        Grid grid = new Grid();
        for (RunRecord run : summary.runs()) {
            double value = run.number(number);
            if (run.settings().containsKey(CleanerText.HEADS) != byLifetime && Double.isFinite(value)
                    && run.measured().containsKey(CleanerText.COST)) {
                // Text after a comma is drawn on a second line.
                grid.put(run.run().workload().replace("-ahead", ", ahead"), run.group(), value);
            }
        }
        if (!grid.names.isEmpty()) {
            all.add(grid.columns(file, title, unit));
        }
    }

    private static Columns cpu(RunRecord run) {
        Grid grid = new Grid();
        run.cells().forEach(cell -> grid.put(cell.title(), cell.contestant(), cell.cpuMicrosPerOp(), 1));
        return grid.columns("cpu_" + run.run().id(), "Server's CPU time per operation: " + run.run().workload(), "µs");
    }

    private static Columns ratios(RunRecord run) {
        Grid grid = new Grid();
        for (Cell cell : run.cells()) {
            if (cell.ratio() != null) {
                grid.put(cell.title(), cell.contestant(), cell.ratio(), 1);
            }
            if (cell.target() != null) {
                grid.targets.put(cell.title(), cell.target());
            }
        }
        // The rival that the others are compared with has no ratio of its own.
        String other = run.cells().stream().filter(cell -> cell.ratio() == null).map(Cell::contestant).findFirst()
                .orElse("another");
        return grid.columns("ratio_" + run.run().id(), "CPU time per operation / " + other + "'s: "
                + run.run().workload(), "ratio");
    }

    private static Columns perKey(Summary summary) {
        Grid grid = new Grid();
        for (RunRecord run : summary.runs()) {
            double value = run.number(PER_KEY);
            if (Double.isFinite(value)) {
                grid.put(run.run().workload(), run.run().configuration(), value);
            }
            for (Check check : run.checks()) {
                if (check.what().equals(PER_KEY_CHECK)) {
                    grid.targets.put(run.run().workload(), check.limit());
                }
            }
        }
        return grid.columns("resident-bytes-per-key", "Resident bytes per key", "bytes");
    }

    /** Gathers the values; confined to the method that creates it. */
    static final class Grid {
        private final Set<String> names = new LinkedHashSet<>();
        private final Map<String, Map<String, Double>> byServer = new LinkedHashMap<>();
        private final Map<String, Map<String, MedianRange>> ranges = new LinkedHashMap<>();
        private final Map<String, Double> targets = new LinkedHashMap<>();

        boolean isEmpty() {
            return names.isEmpty();
        }

        void putTarget(String column, double target) {
            targets.put(column, target);
        }

        void put(String column, String server, double value) {
            names.add(column);
            byServer.computeIfAbsent(server, _ -> new LinkedHashMap<>()).put(column, value);
        }

        /** Puts the median and the range of some repetitions, in a larger unit. */
        void put(String column, String server, MedianRange range, double unit) {
            put(column, server, range.median() / unit);
            ranges.computeIfAbsent(server, _ -> new LinkedHashMap<>()).put(column, new MedianRange(range.count(),
                    range.min() / unit, range.median() / unit, range.max() / unit));
        }

        Columns columns(String file, String title, String unit) {
            List<Series> series = new ArrayList<>();
            byServer.forEach((server, values) -> series.add(new Series(server, row(values),
                    row(ranges.getOrDefault(server, Map.of())))));
            return new Columns(file, title, unit, List.copyOf(names), List.copyOf(series), row(targets));
        }

        private <T> List<@Nullable T> row(Map<String, T> values) {
            List<@Nullable T> row = new ArrayList<>();
            names.forEach(name -> row.add(values.get(name)));
            return row;
        }
    }
}
