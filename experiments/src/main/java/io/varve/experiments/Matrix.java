package io.varve.experiments;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Report;
import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.DurationEstimate;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.run.ConcurrentRuns;
import io.varve.experiments.run.Runner;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.Durations;
import io.varve.experiments.run.context.Interruption;
import io.varve.experiments.run.context.MachineUsage;
import io.varve.experiments.run.context.Progress;
import io.varve.experiments.server.Pinning;
import io.varve.experiments.server.Targets;

/**
 * Executes all runs of a plan, as many at once as the cores allow; then writes the summary and the report. Confined to
 * the main thread, which starts one thread for each concurrent run.
 *
 * <p>Earlier runs are kept. Ctrl-C stops the runs in progress, and the available results are still summarized.
 */
final class Matrix {
    /** The status if a run or a check failed. */
    static final int STATUS_FAILED = 1;
    static final int STATUS_INTERRUPTED = 130;

    private final Plan plan;
    private final Predicate<RunSpec> wanted;
    private final RunFiles files;
    private final Path home;
    private final Options options;
    private final PrintStream out = System.out;
    private boolean hasFailedRuns;

    /**
     * What a user may change about a plan's execution. Immutable.
     *
     * @param atOnce number of concurrent runs; 0 is as many as the cores allow
     * @param fields fields of INFO that the report plots
     * @param earlier folders of results in which durations of earlier runs are looked up
     */
    record Options(int atOnce, List<String> fields, List<Path> earlier) {
        static final Options NONE = new Options(0, List.of(), List.of());
    }

    Matrix(Plan plan, RunFiles files, Path home) {
        this(plan, _ -> true, files, home, Options.NONE);
    }

    Matrix(Plan plan, RunFiles files, Path home, Options options) {
        this(plan, _ -> true, files, home, options);
    }

    /** @param wanted the runs to execute; the report shows the others too, as far as they exist */
    Matrix(Plan plan, Predicate<RunSpec> wanted, RunFiles files, Path home, Options options) {
        this.plan = plan;
        this.wanted = wanted;
        this.files = files;
        this.home = home;
        this.options = options;
    }

    /**
     * Executes the runs as the whole work of a command.
     *
     * @return the command's status
     */
    int run() throws IOException {
        try (Interruption interruption = new Interruption()) {
            int status = run(interruption.cancellation());
            if (status == STATUS_INTERRUPTED) {
                out.println("Interrupted; to continue: ./varve run --resume " + files.directory());
            }
            return status;
        }
    }

    /**
     * Executes the runs as a part of a command's work.
     *
     * @param cancellation ends it early; the results so far are still written
     * @return the status, {@link #STATUS_INTERRUPTED} if it was cancelled
     */
    int run(Cancellation cancellation) throws IOException {
        List<RunSpec> remaining = new ArrayList<>();
        List<RunRecord> known = new ArrayList<>(earlier(options.earlier()));
        for (RunSpec run : plan.runs()) {
            Optional<RunRecord> complete = files.read(run).filter(record -> record.outcome() == Outcome.OK);
            complete.ifPresent(known::add);
            if (complete.isEmpty() && wanted.test(run)) {
                remaining.add(run);
            }
        }
        int cores = Runtime.getRuntime().availableProcessors();
        int atOnce = Math.clamp(remaining.size(), 1, ConcurrentRuns.count(plan, options.atOnce(), cores));
        double loadPerCore = remaining.isEmpty() ? Double.NaN : MachineUsage.loadPerCore();
        DurationEstimate estimate = new DurationEstimate(plan, known);
        announce(remaining, atOnce, cores, loadPerCore, estimate);
        runAll(remaining, atOnce, cores, loadPerCore, cancellation, estimate);
        return conclude(cancellation);
    }

    /** Whether a wanted run failed or was interrupted, checks aside. */
    boolean hasFailedRuns() {
        return hasFailedRuns;
    }

    /** The records of earlier runs in other folders of results. */
    static List<RunRecord> earlier(List<Path> folders) {
        return folders.stream().flatMap(folder -> RunFiles.readAll(folder).stream()).toList();
    }

    private int wantedRuns() {
        return (int) plan.runs().stream().filter(wanted).count();
    }

    private void announce(List<RunSpec> remaining, int atOnce, int cores, double loadPerCore,
            DurationEstimate estimate) {
        out.println(plan.experiment().name() + " --scale " + plan.scaleName() + ": " + plan.experiment().question());
        out.println(plan.scale().about());
        plan.missing().forEach((configuration, why) -> out.println("omitted: " + configuration + ": " + why));
        out.println(
                remaining.size() + " runs"
                        + (remaining.size() < wantedRuns() ? " of " + wantedRuns() + " remain" : "")
                        + ", about "
                        + Durations.words(estimate.seconds(remaining, ConcurrentRuns.speedup(atOnce, cores)))
                        + estimate.basis()
                        + (atOnce > 1 ? ", " + atOnce + " at a time" : "") + "; results in " + files.directory());
        if (atOnce > Pinning.atOnce(cores)) {
            out.println("varve: " + atOnce + " runs at a time share " + cores + " cores, fewer than four each: do not"
                    + " quote their throughput");
        }
        if (BusyMachine.isBusyAtStart(loadPerCore)) {
            out.println("varve: the machine is busy, so the results may be wrong: " + BusyMachine.ofLoad(loadPerCore));
        }
        out.flush();
    }

    private void runAll(List<RunSpec> remaining, int atOnce, int cores, double loadPerCore, Cancellation cancellation,
            DurationEstimate estimate) throws IOException {
        Queue<RunSpec> queue = new ConcurrentLinkedQueue<>(remaining);
        AtomicReference<IOException> fault = new AtomicReference<>();
        try (Progress progress = new Progress(out, wantedRuns(), wantedRuns() - remaining.size(),
                estimate.seconds(remaining, ConcurrentRuns.speedup(atOnce, cores)))) {
            Runner runner = new Runner(plan, new Targets(home), files, progress, cancellation, loadPerCore);
            AtomicReference<DurationEstimate> current = new AtomicReference<>(estimate);
            Set<RunSpec> unfinished = ConcurrentHashMap.newKeySet();
            unfinished.addAll(remaining);
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < atOnce; number++) {
                Pinning ofOneCore = Pinning.oneCoreEach(cores, plan.maxEventLoops());
                Pinning ofConcurrentRun = Pinning.ofConcurrentRun(number, cores, atOnce);
                threads.add(Thread.ofPlatform().name("run-" + number).start(() -> {
                    try {
                        for (RunSpec run = queue.poll(); run != null
                                && !cancellation.isCancelled(); run = queue.poll()) {
                            RunRecord record = runner.run(run,
                                    ConcurrentRuns.needsOneCoreEach(plan.kind(run)) ? ofOneCore : ofConcurrentRun,
                                    atOnce);
                            printOutcome(progress, record);
                            unfinished.remove(run);
                            progress.estimate(current.updateAndGet(before -> before.with(record))
                                    .seconds(List.copyOf(unfinished), ConcurrentRuns.speedup(atOnce, cores)));
                        }
                    } catch (IOException | UncheckedIOException e) {
                        fault.compareAndSet(null, e instanceof IOException io ? io : new IOException(e));
                        cancellation.cancel();
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            cancellation.cancel();
            Thread.currentThread().interrupt();
        }
        IOException failure = fault.get();
        if (failure != null) {
            throw failure;
        }
    }

    private static void printOutcome(Progress progress, RunRecord record) {
        progress.say(switch (record.outcome()) {
            case OK -> "done    " + record.run().id();
            case INTERRUPTED -> "stopped " + record.run().id();
            case FAILED -> "FAILED  " + record.run().id() + ": " + String.join("; ", record.faults());
        });
    }

    /** The fields to plot that no run has reported, with those that there are. */
    private List<String> unknownFields() throws IOException {
        Set<String> reported = new TreeSet<>();
        for (RunSpec run : options.fields().isEmpty() ? List.<RunSpec>of() : plan.runs()) {
            reported.addAll(files.info(run).fields());
        }
        return options.fields().stream().filter(field -> !reported.contains(field))
                .map(field -> "--plot '" + field + "': no run has this field; expected "
                        + (reported.isEmpty() ? "a run with samples of INFO" : String.join(", ", reported)))
                .toList();
    }

    private int conclude(Cancellation cancellation) throws IOException {
        List<RunRecord> records = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            files.read(run).ifPresent(records::add);
        }
        Summary summary = Summary.of(plan, records);
        summary.write(files.directory());
        Path report = new Report(plan, files, summary, options.fields()).write();
        for (String problem : unknownFields()) {
            out.println("varve: " + problem);
        }
        out.print(summary.table());
        out.print(PaperTables.text(PaperTables.of(plan, summary)));
        out.println("Report: " + report);
        if (cancellation.isCancelled()) {
            return STATUS_INTERRUPTED;
        }
        List<String> failedChecks = summary.failedChecks();
        failedChecks.forEach(line -> out.println("varve: " + line));
        BusyMachine.warning(records).ifPresent(line -> out.println("varve: " + line));
        hasFailedRuns = records.stream()
                .anyMatch(record -> wanted.test(record.run()) && record.outcome() != Outcome.OK);
        return hasFailedRuns || !failedChecks.isEmpty() ? STATUS_FAILED : 0;
    }
}
