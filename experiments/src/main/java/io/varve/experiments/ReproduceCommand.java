package io.varve.experiments;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Predicate;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.reproduction.Artefact;
import io.varve.experiments.reproduction.ArtefactResult;
import io.varve.experiments.reproduction.Reproduction;
import io.varve.experiments.reproduction.ReproductionFiles;
import io.varve.experiments.reproduction.Results;
import io.varve.experiments.result.DurationEstimate;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.run.ConcurrentRuns;
import io.varve.experiments.run.Runner;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.Durations;
import io.varve.experiments.run.context.Interruption;
import io.varve.experiments.server.Allocators;
import io.varve.experiments.server.Targets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The subcommand {@code reproduce}: it regenerates tables and figures of the papers. Confined to the main thread.
 *
 * <p>Artefacts of one experiment share its runs. Complete runs are kept, so a repeated command resumes.
 */
@Command(name = "reproduce", mixinStandardHelpOptions = true, sortOptions = false, description = {
        "Regenerates tables and figures of the five papers, and compares them with the published ones.",
        "Without a name it does all 45. A repeated command continues where the last one stopped."}, exitCodeListHeading = "%nExit status:%n", exitCodeList = {
                "0:all runs are complete, whatever the verdicts",
                "1:a run failed",
                "2:bad input, nothing was started",
                "130:interrupted by Ctrl-C; the same command continues"})
final class ReproduceCommand implements Callable<Integer> {
    private static final String DEFAULT_SCALE = "small";
    private static final String PUBLISHED = "docs/reproduction";

    @Parameters(arity = "0..*", paramLabel = "NAME", description = "an id such as bucket-expiry/fig-8, or a paper such as bucket-expiry; --list prints all")
    private List<String> names = List.of();

    @Option(names = "--scale", paramLabel = "SCALE", description = "quick, small (the default) or paper: the papers' own sizes")
    private @Nullable String scale;

    @Option(names = "--list", description = "print a line for each table and figure: id,paper,artefact,command,scale,state,result")
    private boolean list;

    @Option(names = "--at-once", paramLabel = "N", description = "number of concurrent runs, where an experiment allows any (as many as the cores allow)")
    private int atOnce;

    @Option(names = "--dry-run", description = "only print the runs and their durations")
    private boolean dryRun;

    @Option(names = "--report", description = "only write the report from the runs so far")
    private boolean onlyReport;

    @Option(names = "--out", paramLabel = "DIR", description = "folder of the results (runs/reproduction-SCALE)")
    private @Nullable Path out;

    private final PrintStream console = System.out;

    @Override
    public Integer call() throws IOException {
        Path home = Experiments.home();
        Reproduction reproduction = Reproduction.read(home);
        List<Artefact> chosen = reproduction.named(names);
        if (list) {
            printList(home, reproduction, chosen);
            return 0;
        }
        String scaleName = scaleName();
        ReproductionFiles files = files(home, scaleName);
        Map<String, Plan> plans = plans(home, reproduction, scaleName, files);
        if (atOnce < 0) {
            throw new InvalidExperimentException("--at-once " + atOnce + ": expected 1 or more");
        }
        requireSameScale(plans, files);
        if (dryRun) {
            printRuns(home, plans, chosen, files);
            return 0;
        }
        if (onlyReport) {
            for (String experiment : Reproduction.byExperiment(chosen).keySet()) {
                Results.draw(plan(plans, experiment), files);
            }
            write(reproduction, plans, chosen, files);
            return 0;
        }
        for (String experiment : Reproduction.byExperiment(chosen).keySet()) {
            Runner.require(plan(plans, experiment));
        }
        try (Interruption interruption = new Interruption()) {
            int status = runAndWrite(home, reproduction, plans, chosen, files, interruption.cancellation());
            if (status == Matrix.STATUS_INTERRUPTED) {
                console.println("Interrupted; the same command continues.");
            }
            return status;
        }
    }

    /** The page shows what there is, even if an experiment cannot go on. */
    private int runAndWrite(Path home, Reproduction reproduction, Map<String, Plan> plans, List<Artefact> chosen,
            ReproductionFiles files, Cancellation cancellation) throws IOException {
        try {
            return runAll(home, plans, chosen, files, cancellation);
        } finally {
            write(reproduction, plans, chosen, files);
        }
    }

    private void write(Reproduction reproduction, Map<String, Plan> plans, List<Artefact> chosen,
            ReproductionFiles files) throws IOException {
        String scaleName = scaleName();
        List<ArtefactResult> results = new ArrayList<>();
        for (Artefact artefact : reproduction.artefacts()) {
            results.add(result(artefact, scaleName, plans, files));
        }
        Path page = files.write(reproduction, results);
        console.println(Results.table(results.stream().filter(each -> chosen.contains(each.artefact())).toList()));
        console.println("Report: " + page);
        for (ArtefactResult result : results) {
            if (chosen.contains(result.artefact()) && result.isComplete()) {
                result.chartsWithoutFile().forEach(name -> console.println(
                        "varve: " + result.artefact().id() + ": no run has written a chart " + name));
            }
        }
    }

    private String scaleName() {
        return scale == null ? DEFAULT_SCALE : scale;
    }

    /** @throws InvalidExperimentException if the folder has runs of another scale */
    private static void requireSameScale(Map<String, Plan> plans, ReproductionFiles files) throws IOException {
        for (Map.Entry<String, Plan> each : plans.entrySet()) {
            Path file = files.of(each.getKey()).resolve(Request.FILE);
            if (Files.exists(file)) {
                String earlier = RunFiles.readJson(file, Request.class).scale();
                if (!each.getValue().scaleName().equals(earlier)) {
                    throw new InvalidExperimentException("--out '" + files.of(each.getKey()) + "': its runs have scale "
                            + earlier + ", not " + each.getValue().scaleName() + ": expected another folder");
                }
            }
        }
    }

    private ReproductionFiles files(Path home, String scaleName) {
        Path directory = out != null ? out : RunCommand.runs(home).resolve("reproduction-" + scaleName);
        return new ReproductionFiles(directory.toAbsolutePath());
    }

    /**
     * The plan of each experiment at that scale, without configurations that this machine cannot run, unless there are
     * runs of them from another machine.
     */
    private static Map<String, Plan> plans(Path home, Reproduction reproduction, String scaleName,
            ReproductionFiles files) throws IOException {
        ExperimentFiles definitions = new ExperimentFiles(home.resolve("workloads/experiments"));
        Map<String, Plan> plans = new LinkedHashMap<>();
        for (String name : Reproduction.byExperiment(reproduction.artefacts()).keySet()) {
            Experiment experiment = definitions.read(name);
            Plan whole = Plan.of(experiment, reproduction.scale(name, scaleName), Filters.NONE);
            Map<String, String> missing = missing(whole);
            missing.keySet().removeAll(Results.measured(whole, files));
            plans.put(name, whole.without(missing));
        }
        return plans;
    }

    /** Configurations that this machine cannot run, and why. */
    private static Map<String, String> missing(Plan plan) throws IOException {
        Map<String, String> missing = new LinkedHashMap<>(Allocators.missing(plan.configurations()));
        missing.putAll(Targets.missing(plan.configurations(), plan.experiment().baselines()));
        return missing;
    }

    /** The runs that the artefacts need and that this machine can execute. */
    private static Predicate<RunSpec> neededBy(List<Artefact> artefacts, Plan plan) throws IOException {
        Map<String, String> missing = missing(plan);
        return run -> !missing.containsKey(run.configuration())
                && artefacts.stream().anyMatch(artefact -> ArtefactResult.needs(artefact, plan, run));
    }

    private int runAll(Path home, Map<String, Plan> plans, List<Artefact> chosen, ReproductionFiles files,
            Cancellation cancellation) throws IOException {
        int status = 0;
        Map<String, List<Artefact>> byExperiment = Reproduction.byExperiment(chosen);
        console.println(chosen.size() + " tables and figures from " + byExperiment.size() + " experiments");
        int number = 0;
        for (Map.Entry<String, List<Artefact>> each : byExperiment.entrySet()) {
            Plan plan = plan(plans, each.getKey());
            console.println("\n[" + ++number + "/" + byExperiment.size() + "] " + each.getKey() + " for "
                    + String.join(", ", each.getValue().stream().map(Artefact::artefact).toList()));
            RunFiles folder = new RunFiles(files.of(each.getKey()));
            RunFiles.writeJson(folder.directory().resolve(Request.FILE),
                    new Request(each.getKey(), plan.scaleName(), Filters.NONE, null));
            Matrix matrix = new Matrix(plan, neededBy(each.getValue(), plan), folder, home,
                    new Matrix.Options(ConcurrentRuns.mustBeAlone(plan) ? 0 : atOnce, List.of(),
                            RunCommand.earlier(home, each.getKey(), folder.directory())));
            int own = matrix.run(cancellation);
            if (own == Matrix.STATUS_INTERRUPTED) {
                return own;
            }
            status = Math.max(status, matrix.hasFailedRuns() ? Matrix.STATUS_FAILED : 0);
        }
        return status;
    }

    private static Plan plan(Map<String, Plan> plans, String experiment) {
        return java.util.Objects.requireNonNull(plans.get(experiment), experiment);
    }

    private static ArtefactResult result(Artefact artefact, String scaleName, Map<String, Plan> plans,
            ReproductionFiles files) throws IOException {
        return Results.of(artefact, scaleName, plan(plans, artefact.experiment()), files);
    }

    private void printRuns(Path home, Map<String, Plan> plans, List<Artefact> chosen, ReproductionFiles files)
            throws IOException {
        long total = 0;
        for (Map.Entry<String, List<Artefact>> each : Reproduction.byExperiment(chosen).entrySet()) {
            Plan plan = plan(plans, each.getKey());
            List<RunSpec> needed = plan.runs().stream().filter(neededBy(each.getValue(), plan)).toList();
            Path own = files.of(each.getKey());
            List<Path> known = new ArrayList<>(RunCommand.earlier(home, each.getKey(), own));
            known.add(own);
            DurationEstimate estimate = new DurationEstimate(plan, Matrix.earlier(known));
            long seconds = estimate.seconds(needed, 1);
            total += seconds;
            console.println(each.getKey() + " --scale " + plan.scaleName() + ": " + needed.size() + " runs, about "
                    + Durations.words(seconds) + estimate.basis());
            needed.forEach(run -> console.println("  " + run.id() + "  " + estimate.seconds(run) + " s"));
        }
        console.println("In all about " + Durations.words(total) + " if one run follows the other");
    }

    private void printList(Path home, Reproduction reproduction, List<Artefact> chosen) throws IOException {
        Map<String, Map<String, Plan>> plans = new HashMap<>();
        ReproductionFiles published = new ReproductionFiles(home.resolve(PUBLISHED));
        for (Artefact artefact : chosen) {
            String shownScale = scale == null ? DEFAULT_SCALE : scale;
            String state = "not run";
            String verdict = "-";
            for (String each : scale == null ? Reproduction.SCALES.reversed() : List.of(shownScale)) {
                if (!plans.containsKey(each)) {
                    plans.put(each, plans(home, reproduction, each, files(home, each)));
                }
                ArtefactResult result = result(artefact, each, java.util.Objects.requireNonNull(plans.get(each)),
                        files(home, each));
                if (result.runs() > 0) {
                    shownScale = each;
                    state = result.state();
                    verdict = result.verdict().words();
                    break;
                }
            }
            Optional<ReproductionFiles.Earlier> earlier = published.earlier(artefact.id());
            if (state.equals("not run") && earlier.isPresent()
                    && (scale == null || earlier.get().scale().equals(shownScale))) {
                shownScale = earlier.get().scale();
                state = "published " + earlier.get().date();
                verdict = earlier.get().verdict();
            }
            console.println(String.join(",", artefact.id(), artefact.paper(), artefact.artefact(),
                    "./varve reproduce " + artefact.id() + " --scale " + shownScale, shownScale, state, verdict));
        }
    }
}
