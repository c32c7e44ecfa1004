package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.run.Runner;
import io.varve.experiments.server.Allocators;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code run}: runs an experiment, or goes on with one. Confined to the main thread. */
@Command(name = "run", mixinStandardHelpOptions = true, sortOptions = false, description = {
        "Runs an experiment: load on servers, memory sampled every second, data, plots and a report.",
        "Without a name: bucket-expiry at quick scale, about a minute, Varve inside this process."}, exitCodeListHeading = "%nExit status:%n", exitCodeList = {
                "0:all runs are whole and all checks held",
                "1:a run failed, or a check was not held; a baseline's own checks do not count, but that it got the load "
                        + "it is compared under does",
                "2:bad input, nothing was started",
                "130:interrupted by Ctrl-C; what was measured is kept, and --resume goes on"})
final class RunCommand implements Callable<Integer> {
    private static final String DEFAULT_EXPERIMENT = "bucket-expiry";
    private static final String DEFAULT_SCALE = "quick";
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    @Parameters(index = "0", arity = "0..1", paramLabel = "EXPERIMENT", description = "its name; ./varve experiments lists them")
    private @Nullable String name;

    @Option(names = "--scale", paramLabel = "SCALE", description = "quick, small, medium or large, as the experiment has them")
    private @Nullable String scale;

    @Option(names = "--against", paramLabel = "TARGET", description = {"compare with: varve (its own reference alone),",
            "redis (a real redis-server, started here), HOST:PORT; may be repeated"})
    private List<String> against = List.of();

    @Option(names = "--workload", split = ",", paramLabel = "NAME", description = "only these workloads")
    private List<String> workloads = List.of();

    @Option(names = "--size", split = ",", paramLabel = "NAME", description = "only these sizes")
    private List<String> sizes = List.of();

    @Option(names = "--config", split = ",", paramLabel = "NAME", description = "only these configurations")
    private List<String> configurations = List.of();

    @Option(names = "--threads", split = ",", paramLabel = "N", description = "only so many client threads")
    private List<Integer> threads = List.of();

    @Option(names = "--ttls", paramLabel = "S,S...", description = "only this set of TTLs in seconds; may be repeated")
    private List<String> ttls = List.of();

    @Option(names = "--out", paramLabel = "DIR", description = "where the results go; default runs/EXPERIMENT-SCALE-DATE")
    private @Nullable Path out;

    @Option(names = "--resume", paramLabel = "DIR", description = "go on with the matrix in this directory")
    private @Nullable Path resume;

    @Option(names = "--dry-run", description = "print the runs and how long they take, and do nothing")
    private boolean dryRun;

    @Override
    public Integer call() throws IOException {
        Path home = Experiments.home();
        Request request = resume == null ? requested() : resumed(resume);
        Experiment experiment = new ExperimentFiles(home.resolve("workloads/experiments")).read(request.experiment());
        String scaleName = request.scale() == null ? experiment.defaultScale() : request.scale();
        Plan wanted = Plan.of(experiment, scaleName, request.filters());
        Plan plan = wanted.without(Allocators.missing(wanted.configurations()));
        Path directory = resume != null
                ? resume
                : out != null
                        ? out
                        : home.resolve("runs").resolve(experiment.name() + "-" + scaleName + "-"
                                + LocalDateTime.now(java.time.ZoneId.systemDefault()).format(STAMP));
        if (dryRun) {
            plan.runs().forEach(run -> System.out.println(run.id() + "  " + plan.estimateSeconds(run) + " s"));
            return 0;
        }
        if (resume == null && Files.exists(directory.resolve(Request.FILE))) {
            throw new InvalidExperimentException("--out '" + directory + "' holds an experiment: allowed is a new "
                    + "directory, or --resume " + directory);
        }
        Runner.require(plan);
        RunFiles files = new RunFiles(directory.toAbsolutePath());
        RunFiles.writeJson(directory.toAbsolutePath().resolve(Request.FILE), request);
        return new Matrix(plan, files, home).run();
    }

    private Request requested() {
        String experiment = name == null ? DEFAULT_EXPERIMENT : name;
        String chosenScale = scale != null || name != null ? scale : DEFAULT_SCALE;
        return new Request(experiment, chosenScale, new Filters(workloads, sizes, configurations, threads,
                ttls.stream().map(RunCommand::ttlSet).toList(), against));
    }

    private Request resumed(Path directory) throws IOException {
        if (name != null || scale != null || out != null) {
            throw new InvalidExperimentException("--resume " + directory + ": the directory says what to run; allowed "
                    + "beside it is nothing");
        }
        Path file = directory.resolve(Request.FILE);
        if (!Files.exists(file)) {
            throw new InvalidExperimentException(
                    "--resume '" + directory + "': there is no " + Request.FILE + " in it");
        }
        return RunFiles.readJson(file, Request.class);
    }

    private static List<Integer> ttlSet(String text) {
        if (!text.matches("[1-9]\\d{0,5}(,[1-9]\\d{0,5})*")) {
            throw new InvalidExperimentException(
                    "--ttls '" + text + "': allowed are seconds with commas, as 15,30,45,60");
        }
        return Arrays.stream(text.split(",", -1)).map(Integer::valueOf).toList();
    }
}
