package io.varve.experiments;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import io.varve.experiments.definition.Experiment;
import io.varve.experiments.definition.ExperimentFiles;
import io.varve.experiments.definition.InvalidExperimentException;
import io.varve.experiments.plan.Filters;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.TraceWorkloads;
import io.varve.experiments.result.DurationEstimate;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.run.ConcurrentRuns;
import io.varve.experiments.run.Runner;
import io.varve.experiments.run.context.Durations;
import io.varve.experiments.server.Allocators;
import io.varve.experiments.server.Targets;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The subcommand {@code run}: it runs an experiment, or resumes one. Confined to the main thread. */
@Command(name = "run", mixinStandardHelpOptions = true, sortOptions = false, description = {
        "Runs an experiment: it loads the servers, samples their memory every second, and writes data, plots and a report.",
        "Without a name it runs bucket-expiry at quick scale in about a minute, with Varve inside this process."}, exitCodeListHeading = "%nExit status:%n", exitCodeList = {
                "0:all runs are complete and all checks held",
                "1:a run failed, or a check did not hold; of a baseline only the checks of its load count",
                "2:bad input, nothing was started",
                "130:interrupted by Ctrl-C; the results so far are kept, and --resume continues"})
final class RunCommand implements Callable<Integer> {
    private static final String DEFAULT_EXPERIMENT = "bucket-expiry";
    private static final String DEFAULT_SCALE = "quick";
    /** How many folders of results show how long runs take. */
    private static final int EARLIER_FOLDERS = 10;
    private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss");

    @Parameters(index = "0", arity = "0..1", paramLabel = "EXPERIMENT", description = "name of the experiment; ./varve experiments lists them")
    private @Nullable String name;

    @Option(names = "--scale", paramLabel = "SCALE", description = "quick, small, medium or large, or another one that ./varve experiments lists")
    private @Nullable String scale;

    @Option(names = "--against", paramLabel = "TARGET", description = {
            "servers to compare with: varve (only its own configurations),",
            "redis (a real redis-server, started here) or HOST:PORT; may be repeated"})
    private List<String> against = List.of();

    @Option(names = "--workload", split = ",", paramLabel = "NAME", description = "only these workloads")
    private List<String> workloads = List.of();

    @Option(names = "--size", split = ",", paramLabel = "NAME", description = "only these sizes")
    private List<String> sizes = List.of();

    @Option(names = "--config", split = ",", paramLabel = "NAME", description = "only these configurations")
    private List<String> configurations = List.of();

    @Option(names = "--threads", split = ",", paramLabel = "N", description = "only these numbers of client threads")
    private List<Integer> threads = List.of();

    @Option(names = "--ttls", paramLabel = "S,S...", description = "only this set of TTLs in seconds; may be repeated")
    private List<String> ttls = List.of();

    @Option(names = "--trace", paramLabel = "FILE[:FORMAT]", description = {
            "a trace file as one more workload of tbf-simulated; the format is keys (one per line), spc or msr;",
            "may be repeated"})
    private List<String> traces = List.of();

    @Option(names = "--out", paramLabel = "DIR", description = "folder of the results (runs/EXPERIMENT-SCALE-DATE)")
    private @Nullable Path out;

    @Option(names = "--resume", paramLabel = "DIR", description = "continue the experiment in this folder")
    private @Nullable Path resume;

    @Option(names = "--at-once", paramLabel = "N", description = {
            "number of concurrent runs, each with a server of its own (one for each four cores);",
            "refused where a run needs the machine for itself"})
    private int atOnce;

    @Option(names = "--plot", split = ",", paramLabel = "FIELD", description = {
            "fields of INFO to plot over time, such as used_memory_rss,expired_keys; with --resume also of",
            "complete runs, from their info.csv"})
    private List<String> fields = List.of();

    @Option(names = "--dry-run", description = "only print the runs and their durations")
    private boolean dryRun;

    @Override
    public Integer call() throws IOException {
        Path home = Experiments.home();
        Request request = resume == null ? requested() : resumed(resume);
        Experiment experiment = TraceWorkloads.add(
                new ExperimentFiles(home.resolve("workloads/experiments")).read(request.experiment()),
                request.traces() == null ? List.of() : request.traces());
        String scaleName = request.scale() == null ? experiment.defaultScale() : request.scale();
        Plan wanted = Plan.of(experiment, scaleName, request.filters());
        Map<String, String> missing = new LinkedHashMap<>(Allocators.missing(wanted.configurations()));
        missing.putAll(Targets.missing(wanted.configurations(), experiment.baselines()));
        Plan plan = wanted.without(missing);
        Path directory = resume != null
                ? resume
                : out != null
                        ? out
                        : runs(home).resolve(experiment.name() + "-" + scaleName + "-"
                                + LocalDateTime.now(java.time.ZoneId.systemDefault()).format(STAMP));
        if (atOnce < 0) {
            throw new InvalidExperimentException("--at-once " + atOnce + ": expected 1 or more");
        }
        int cores = Runtime.getRuntime().availableProcessors();
        int concurrent = ConcurrentRuns.count(plan, atOnce, cores);
        Matrix.Options options = new Matrix.Options(atOnce, fields, earlier(home, experiment.name(), directory));
        if (dryRun) {
            DurationEstimate estimate = new DurationEstimate(plan, Matrix.earlier(options.earlier()));
            plan.runs().forEach(run -> System.out.println(run.id() + "  " + estimate.seconds(run) + " s"));
            System.out.println(plan.runs().size() + " runs, about "
                    + Durations.words(estimate.seconds(plan.runs(), ConcurrentRuns.speedup(concurrent, cores)))
                    + estimate.basis()
                    + (concurrent > 1 ? ", " + concurrent + " at a time" : ""));
            return 0;
        }
        if (resume == null && Files.exists(directory.resolve(Request.FILE))) {
            throw new InvalidExperimentException("--out '" + directory + "' contains an experiment: expected a new "
                    + "folder, or --resume " + directory);
        }
        Runner.require(plan);
        RunFiles files = new RunFiles(directory.toAbsolutePath());
        RunFiles.writeJson(directory.toAbsolutePath().resolve(Request.FILE), request);
        return new Matrix(plan, files, home, options).run();
    }

    /** The newest folders with results of the experiment, without this one: they show how long its runs take. */
    static List<Path> earlier(Path home, String experiment, Path directory) throws IOException {
        Path runs = runs(home);
        if (!Files.isDirectory(runs)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(runs)) {
            return folders.filter(folder -> isOf(experiment, folder)
                    && !folder.toAbsolutePath().equals(directory.toAbsolutePath()))
                    .sorted(Comparator.comparingLong((Path folder) -> folder.toFile().lastModified()).reversed())
                    .limit(EARLIER_FOLDERS).toList();
        }
    }

    private static boolean isOf(String experiment, Path folder) {
        Path file = folder.resolve(Request.FILE);
        try {
            return Files.isRegularFile(file)
                    && RunFiles.readJson(file, Request.class).experiment().equals(experiment);
        } catch (IOException e) {
            return false; // incomplete, or of another version
        }
    }

    /** The folder of all results. */
    static Path runs(Path home) {
        String configured = System.getProperty("varve.runs");
        return configured == null ? home.resolve("runs") : Path.of(configured);
    }

    private Request requested() {
        String experiment = name == null ? DEFAULT_EXPERIMENT : name;
        String chosenScale = scale != null || name != null ? scale : DEFAULT_SCALE;
        return new Request(experiment, chosenScale, new Filters(workloads, sizes, configurations, threads,
                ttls.stream().map(RunCommand::ttlSet).toList(), against),
                traces.stream().map(TraceWorkloads::absolute).toList());
    }

    private Request resumed(Path directory) throws IOException {
        if (name != null || scale != null || out != null) {
            throw new InvalidExperimentException("--resume " + directory + ": expected no other option, because the "
                    + "folder defines the runs");
        }
        Path file = directory.resolve(Request.FILE);
        if (!Files.exists(file)) {
            throw new InvalidExperimentException(
                    "--resume '" + directory + "': the folder has no " + Request.FILE);
        }
        return RunFiles.readJson(file, Request.class);
    }

    private static List<Integer> ttlSet(String text) {
        if (!text.matches("[1-9]\\d{0,5}(,[1-9]\\d{0,5})*")) {
            throw new InvalidExperimentException(
                    "--ttls '" + text + "': expected seconds separated by commas, such as 15,30,45,60");
        }
        return Arrays.stream(text.split(",", -1)).map(Integer::valueOf).toList();
    }
}
