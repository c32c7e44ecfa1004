package io.varve.experiments.reproduction;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Report;
import io.varve.experiments.result.Machine;
import io.varve.experiments.result.PaperTable;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.RunRecord.Phase;
import io.varve.experiments.result.table.Summary;

/**
 * An artefact with its runs, tables and charts at one scale. Immutable.
 *
 * @param artefact its definition
 * @param scale the scale of the reproduction
 * @param about what the experiment's scale is
 * @param runs the number of its complete runs
 * @param planned the number of all of its runs
 * @param seconds duration of the complete runs, s
 * @param date the day of the newest run, empty if there is none
 * @param versions the versions of Varve that made its runs, as the sources' commits
 * @param findings its claims with our measurements
 * @param verdict what they yield
 * @param tables published and measured values
 * @param charts the images that show it
 * @param chartsWithoutFile names of charts in its definition for which there is no image
 * @param omitted configurations that this machine cannot run, and why
 */
public record ArtefactResult(Artefact artefact, String scale, String about, int runs, int planned, long seconds,
        String date, Set<String> versions, List<Finding> findings, Verdict verdict, List<PaperTable> tables,
        List<Path> charts,
        List<String> chartsWithoutFile, List<String> omitted) {
    private static final int DATE_LENGTH = "2026-01-31".length();
    private static final double SECOND_MILLIS = 1000;
    /** The formats of a chart, the preferred one first. */
    private static final List<String> FORMATS = List.of(".svg", ".png");

    static ArtefactResult of(Artefact artefact, String scale, Plan plan, Summary summary, Path directory)
            throws IOException {
        Selection selection = Selection.of(artefact, plan.experiment());
        List<RunSpec> planned = plan.runs().stream().filter(selection::has).toList();
        List<RunRecord> complete = summary.runs().stream()
                .filter(run -> run.outcome() == Outcome.OK && selection.has(run.run())).toList();
        List<Finding> findings = artefact.claims().stream()
                .map(claim -> new Finding(claim, claim.value().of(summary, selection))).toList();
        Set<Path> charts = new LinkedHashSet<>();
        List<String> chartsWithoutFile = new ArrayList<>();
        for (String name : chartNames(artefact)) {
            List<Path> found = charts(name, directory);
            charts.addAll(found);
            if (found.isEmpty()) {
                chartsWithoutFile.add(name);
            }
        }
        return new ArtefactResult(artefact, scale, plan.scale().about(), complete.size(), planned.size(),
                Math.round(complete.stream().mapToLong(ArtefactResult::millis).sum() / SECOND_MILLIS),
                complete.stream().map(run -> run.startedAt().substring(0, DATE_LENGTH)).max(Comparator.naturalOrder())
                        .orElse(""),
                complete.stream().map(run -> run.machine().getOrDefault(Machine.VERSION, "unknown"))
                        .collect(Collectors.toCollection(TreeSet::new)),
                findings, Verdict.of(artefact, findings, complete.size()),
                Report.tables(plan, summary).stream().filter(table -> artefact.shownBy().contains(table.id()))
                        .toList(),
                List.copyOf(charts), chartsWithoutFile,
                plan.missing().entrySet().stream().map(each -> each.getKey() + ": " + each.getValue()).toList());
    }

    /** Whether an artefact needs a run of its experiment. */
    public static boolean needs(Artefact artefact, Plan plan, RunSpec run) {
        return Selection.of(artefact, plan.experiment()).has(run);
    }

    private static long millis(RunRecord run) {
        return run.phases().stream().mapToLong(Phase::endMillis).max().orElse(0);
    }

    private static List<String> chartNames(Artefact artefact) {
        return artefact.charts() == null ? List.of() : artefact.charts();
    }

    private static List<Path> charts(String name, Path directory) throws IOException {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        Map<String, Path> byStem = new TreeMap<>();
        for (String format : FORMATS) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, name + format)) {
                files.forEach(file -> byStem.putIfAbsent(stem(file), file));
            }
        }
        return List.copyOf(byStem.values());
    }

    private static String stem(Path file) {
        String name = file.getFileName().toString();
        return name.substring(0, name.lastIndexOf('.'));
    }

    /** Whether all of its runs are complete. */
    public boolean isComplete() {
        return planned > 0 && runs == planned;
    }

    /** Not run, complete, or how much of it. */
    public String state() {
        if (runs == 0) {
            return "not run";
        }
        return isComplete() ? "complete " + date : runs + " of " + planned + " runs " + date;
    }

    /** The number of claims that hold, of those that were measured. */
    String held() {
        long measured = findings.stream().filter(Finding::isMeasured).count();
        return findings.stream().filter(Finding::holds).count() + " of " + measured;
    }
}
