package io.varve.experiments.result.table;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.Comparison;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Outcome;

/**
 * The results of all runs. Immutable.
 *
 * @param experiment its name
 * @param scale its name
 * @param scaleAbout description of the scale
 * @param runs all existing ones, failed ones too
 * @param comparisons comparisons of the complete runs with each baseline
 * @param baselines the configurations that serve as baselines
 */
public record Summary(String experiment, String scale, String scaleAbout, List<RunRecord> runs,
        List<Comparison> comparisons, List<String> baselines) {

    public static Summary of(Plan plan, List<RunRecord> runs) {
        List<String> baselines = plan.experiment().baselines();
        List<Comparison> comparisons = new ArrayList<>();
        for (RunRecord run : runs) {
            for (RunRecord baseline : runs) {
                if (run.outcome() == Outcome.OK && baseline.outcome() == Outcome.OK
                        && baselines.contains(baseline.run().configuration())
                        && !run.run().configuration().equals(baseline.run().configuration())
                        && run.run().cell().equals(baseline.run().cell())) {
                    comparisons.add(Comparison.of(run, baseline));
                }
            }
        }
        return new Summary(plan.experiment().name(), plan.scaleName(), plan.scale().about(), List.copyOf(runs),
                List.copyOf(comparisons), baselines);
    }

    /** Writes {@code summary.csv} and {@code summary.json}. */
    public void write(Path directory) throws IOException {
        Files.writeString(directory.resolve("summary.csv"), csv());
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("experiment", experiment);
        json.put("scale", scale);
        json.put("scale_about", scaleAbout);
        json.put("runs", runs);
        json.put("comparisons", comparisons.stream().map(Summary::finite).toList());
        RunFiles.writeJson(directory.resolve("summary.json"), json);
    }

    /** JSON has no NaN: unknown values are omitted. */
    private static Map<String, Object> finite(Comparison comparison) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("run", comparison.run().id());
        json.put("configuration", comparison.run().configuration());
        json.put("baseline", comparison.baseline());
        for (String metric : List.of("mean-memory", "peak-memory", "mean-rss", "peak-rss", "throughput")) {
            if (Double.isFinite(comparison.metric(metric))) {
                json.put(metric.replace('-', '_') + (metric.equals("throughput") ? "_improvement" : "_reduction")
                        + "_percent", comparison.metric(metric));
            }
        }
        return json;
    }

    /** A row per run; for throughput, a row per run, test, pipeline and server. */
    String csv() {
        if (runs.stream().anyMatch(run -> !run.cells().isEmpty())) {
            return CellText.csv(runs);
        }
        Set<String> names = new LinkedHashSet<>();
        runs.forEach(run -> names.addAll(run.measured().keySet()));
        StringBuilder csv = new StringBuilder("run,workload,size,ttls,threads,configuration,server,outcome");
        names.forEach(name -> csv.append(',').append(name));
        for (String baseline : baselines) {
            String suffix = "_vs_" + baseline.toLowerCase(Locale.ROOT) + "_percent";
            csv.append(",mean_memory_reduction").append(suffix).append(",peak_memory_reduction").append(suffix)
                    .append(",mean_rss_reduction").append(suffix).append(",peak_rss_reduction").append(suffix)
                    .append(",throughput_improvement").append(suffix);
        }
        csv.append(",checks_held,checks\n");
        runs.forEach(run -> appendRow(csv, run, names));
        return csv.toString();
    }

    private void appendRow(StringBuilder csv, RunRecord run, Set<String> names) {
        csv.append(run.run().id()).append(',').append(run.run().workload()).append(',').append(run.run().size())
                .append(',').append(run.run().ttlText().replaceAll("[{} ]", "").replace(',', ' ')).append(',')
                .append(run.run().threads()).append(',').append(run.run().configuration()).append(',')
                .append(run.serverVersion().replace(',', ' ')).append(',').append(run.outcome());
        names.forEach(name -> csv.append(',').append(number(run.number(name))));
        for (String baseline : baselines) {
            Comparison comparison = against(run, baseline);
            for (String metric : List.of("mean-memory", "peak-memory", "mean-rss", "peak-rss", "throughput")) {
                csv.append(',').append(comparison == null ? "" : number(comparison.metric(metric)));
            }
        }
        csv.append(',')
                .append(run.checks().stream().filter(check -> check.held() && check.notAsserted() == null).count())
                .append(',')
                .append(run.checks().stream().filter(check -> check.notAsserted() == null).count()).append('\n');
    }

    private static String number(double value) {
        if (!Double.isFinite(value)) {
            return "";
        }
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.3f", value);
    }

    /** The run against that baseline; null if there is none. */
    public @org.jspecify.annotations.Nullable Comparison against(RunRecord run, String baseline) {
        for (Comparison comparison : comparisons) {
            if (comparison.run().equals(run.run()) && comparison.baseline().equals(baseline)) {
                return comparison;
            }
        }
        return null;
    }

    /**
     * The failed checks, a line each. A baseline serves for comparison: it may miss the others' targets, but must have
     * got an equal load.
     */
    public List<String> failedChecks() {
        List<String> lines = new ArrayList<>();
        for (RunRecord run : runs) {
            boolean baseline = baselines.contains(run.run().configuration());
            for (Check check : run.checks()) {
                if (check.hasFailed() && (!baseline || RunRecord.isOfTheLoad(check))) {
                    lines.add("not held in " + run.run().id() + ": " + check.text());
                }
            }
        }
        return lines;
    }

    /** The table for a terminal: a row per run; for throughput, a row per cell. */
    public String table() {
        if (runs.stream().anyMatch(RequestsText::isIn)) {
            return tableOfSeveralKinds();
        }
        if (runs.stream().anyMatch(WarmUpText::isIn)) {
            return WarmUpText.table(runs, baselines);
        }
        if (runs.stream().anyMatch(run -> !run.cells().isEmpty())) {
            return CellText.table(runs);
        }
        if (runs.stream().anyMatch(LocksText::isIn)) {
            return LocksText.table(runs);
        }
        if (runs.stream().anyMatch(ProxyText::isIn)) {
            return ProxyText.table(runs);
        }
        if (runs.stream().anyMatch(ReplicationText::isIn)) {
            return ReplicationText.table(runs);
        }
        if (runs.stream().anyMatch(PlacementText::isIn)) {
            return PlacementText.table(runs);
        }
        if (FragmentationText.isIn(runs)) {
            return FragmentationText.table(runs);
        }
        if (LatencyText.isIn(runs)) {
            return LatencyText.table(runs);
        }
        if (CleanerText.isIn(runs)) {
            return CleanerText.table(runs);
        }
        if (PenaltyText.isIn(runs)) {
            return PenaltyText.table(runs);
        }
        if (TieredText.isIn(runs)) {
            return TieredText.table(runs);
        }
        if (EventsText.isIn(runs)) {
            return EventsText.table(runs);
        }
        if (PoliciesText.isIn(runs)) {
            return PoliciesText.table(runs);
        }
        return general();
    }

    /** Each kind's own table, and the general one for failed runs. */
    private String tableOfSeveralKinds() {
        List<RunRecord> rest = new ArrayList<>(runs);
        StringBuilder text = new StringBuilder();
        for (Kind kind : List.<Kind>of(new Kind(run -> FragmentationText.isIn(List.of(run)), FragmentationText::table),
                new Kind(run -> CleanerText.isIn(List.of(run)), CleanerText::table),
                new Kind(RequestsText::isIn, some -> RequestsText.table(some, baselines)))) {
            List<RunRecord> own = rest.stream().filter(kind.has()).toList();
            rest.removeAll(own);
            text.append(own.isEmpty() ? "" : kind.table().apply(own));
        }
        return text.append(rest.isEmpty()
                ? ""
                : new Summary(experiment, scale, scaleAbout, rest, List.of(), baselines).general()).toString();
    }

    private record Kind(Predicate<RunRecord> has, Function<List<RunRecord>, String> table) {}

    private String general() {
        int width = runs.stream().mapToInt(run -> run.run().id().length()).max().orElse(3);
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT,
                "%n%-" + width + "s %10s %10s %10s %12s", "run", "mean MB", "peak MB", "peak rss", "ops/s"));
        for (String baseline : baselines) {
            text.append(String.format(Locale.ROOT, " %29s", "mean, peak reduction vs " + baseline));
        }
        text.append('\n');
        for (RunRecord run : runs) {
            text.append(String.format(Locale.ROOT, "%-" + width + "s %10.1f %10.1f %10.1f %12s", run.run().id(),
                    run.number(RunMetrics.MEAN_MEMORY) / 1e6, run.number(RunMetrics.PEAK_MEMORY) / 1e6,
                    run.number(RunMetrics.PEAK_RSS) / 1e6, throughput(run)));
            for (String baseline : baselines) {
                Comparison comparison = against(run, baseline);
                text.append(String.format(Locale.ROOT, " %29s", comparison == null
                        ? "-"
                        : String.format(Locale.ROOT,
                                "%.1f %%, %.1f %%", comparison.meanMemoryReduction(),
                                comparison.peakMemoryReduction())));
            }
            text.append(run.outcome() == Outcome.OK
                    ? "\n"
                    : "  " + run.outcome() + (run.faults().isEmpty() ? "" : ": " + String.join("; ", run.faults()))
                            + "\n");
            double perKey = run.number("resident_bytes_per_key");
            if (Double.isFinite(perKey)) {
                text.append(String.format(Locale.ROOT, "             resident bytes per key: %.1f%n", perKey));
            }
            appendChecks(text, run);
        }
        if (runs.stream().anyMatch(RunRecord::fellShort)) {
            text.append(
                    "\nSome runs got less load than planned: the machine or the server did not keep up. Less load means less "
                            + "memory,\nso do not quote comparisons with them. Repeat them on an idle machine.\n");
        }
        return text.append('\n').toString();
    }

    /** Ends the row of a run; a failed run's row has its faults. */
    static void appendOutcome(StringBuilder text, RunRecord run) {
        text.append(run.outcome() == Outcome.OK
                ? "\n"
                : "  " + run.outcome() + ": " + String.join("; ", run.faults()) + "\n");
    }

    static void appendChecks(StringBuilder text, RunRecord run) {
        for (Check check : run.checks()) {
            text.append(String.format(Locale.ROOT, "    %-8s %s%n", check.verdict(), check.text()));
        }
        BusyMachine.reasons(run)
                .forEach(reason -> text.append("    BUSY     ").append(reason).append('\n'));
    }

    private static String throughput(RunRecord run) {
        double value = Comparison.throughput(run);
        if (Double.isNaN(value)) {
            value = run.number("load_throughput_ops");
        }
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%,.0f", value);
    }
}
