package io.varve.experiments.reproduction;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Report;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.Summary;

/** The results of artefacts from the runs on disk. Stateless. */
public final class Results {
    private Results() {}

    /** The result of an artefact: without runs if its experiment has no folder yet. */
    public static ArtefactResult of(Artefact artefact, String scale, Plan plan, ReproductionFiles files)
            throws IOException {
        Path directory = files.of(artefact.experiment());
        return ArtefactResult.of(artefact, scale, plan, Summary.of(plan, records(plan, directory)), directory);
    }

    /** Writes the report and the charts of an experiment's runs, if there are any. */
    public static void draw(Plan plan, ReproductionFiles files) throws IOException {
        Path directory = files.of(plan.experiment().name());
        List<RunRecord> records = records(plan, directory);
        if (!records.isEmpty()) {
            new Report(plan, new RunFiles(directory), Summary.of(plan, records), List.of()).write();
        }
    }

    /** The configurations of which the runs so far have numbers, whether or not this machine could run them. */
    public static Set<String> measured(Plan plan, ReproductionFiles files) throws IOException {
        List<RunRecord> records = records(plan, files.of(plan.experiment().name()));
        return plan.configurations().keySet().stream()
                .filter(name -> records.stream().anyMatch(record -> isMeasuredBy(record, name)))
                .collect(Collectors.toSet());
    }

    /** A run that compares servers has their numbers with their names at the end. */
    private static boolean isMeasuredBy(RunRecord record, String configuration) {
        return record.outcome() == Outcome.OK && (record.run().configuration().equals(configuration)
                || record.measured().keySet().stream().anyMatch(name -> name.endsWith(" " + configuration)));
    }

    private static List<RunRecord> records(Plan plan, Path directory) throws IOException {
        List<RunRecord> records = new ArrayList<>();
        if (Files.isDirectory(directory)) {
            RunFiles folder = new RunFiles(directory);
            for (RunSpec run : plan.runs()) {
                folder.read(run).ifPresent(records::add);
            }
        }
        return records;
    }

    /** A line per artefact, for a terminal. */
    public static String table(List<ArtefactResult> results) {
        int width = results.stream().mapToInt(each -> each.artefact().id().length()).max().orElse(0);
        StringBuilder text = new StringBuilder();
        for (ArtefactResult result : results) {
            text.append(String.format(Locale.ROOT, "%-" + Math.max(1, width) + "s  %-20s %8s statements hold   %s%n",
                    result.artefact().id(), result.verdict().words(), result.held(), result.state()));
        }
        for (Verdict verdict : Verdict.values()) {
            text.append(results.stream().filter(each -> each.verdict() == verdict).count()).append(' ')
                    .append(verdict.ofSeveral()).append(verdict == Verdict.NOT_RUN ? "" : ", ");
        }
        return text.toString();
    }
}
