package io.varve.experiments;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Report;
import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.table.PaperTables;
import io.varve.experiments.result.table.Summary;
import io.varve.experiments.run.Runner;
import io.varve.experiments.run.context.Cancellation;
import io.varve.experiments.run.context.Durations;
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
    /** How long Ctrl-C waits for the report. */
    private static final long REPORT_SECONDS = 60;

    private final Plan plan;
    private final Predicate<RunSpec> wanted;
    private final RunFiles files;
    private final Path home;
    private final PrintStream out = System.out;
    private boolean hasFailedRuns;

    Matrix(Plan plan, RunFiles files, Path home) {
        this(plan, _ -> true, files, home);
    }

    /** @param wanted the runs to execute; the report shows the others too, as far as they exist */
    Matrix(Plan plan, Predicate<RunSpec> wanted, RunFiles files, Path home) {
        this.plan = plan;
        this.wanted = wanted;
        this.files = files;
        this.home = home;
    }

    /** @return the command's status */
    int run() throws IOException {
        List<RunSpec> remaining = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            if (wanted.test(run) && !isComplete(run)) {
                remaining.add(run);
            }
        }
        int cores = Runtime.getRuntime().availableProcessors();
        // An embedded server uses the whole process, and another run would affect a measured throughput.
        boolean alone = plan.scale().embedded() || plan.runs().stream().map(plan::kind)
                .anyMatch(kind -> oneCoreEach(kind) || kind == Kind.FRAGMENTATION || kind == Kind.PENALTY);
        int atOnce = alone ? 1 : Math.clamp(remaining.size(), 1, Pinning.atOnce(cores));
        double loadPerCore = remaining.isEmpty() ? Double.NaN : MachineUsage.loadPerCore();
        announce(remaining, atOnce, loadPerCore);
        Cancellation cancellation = new Cancellation();
        CountDownLatch written = new CountDownLatch(1);
        Thread hook = new Thread(() -> interrupt(cancellation, written), "interrupt");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            runAll(remaining, atOnce, cores, loadPerCore, cancellation);
            return conclude(cancellation);
        } finally {
            written.countDown();
            if (!cancellation.isCancelled()) {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
        }
    }

    /** Whether a run failed or was interrupted, checks aside. */
    boolean hasFailedRuns() {
        return hasFailedRuns;
    }

    private boolean isComplete(RunSpec run) throws IOException {
        Optional<RunRecord> before = files.read(run);
        return before.isPresent() && before.get().outcome() == Outcome.OK;
    }

    private static boolean oneCoreEach(Kind kind) {
        return Plan.isAlternating(kind) || Plan.comparesAll(kind) || kind == Kind.LATENCY;
    }

    private void announce(List<RunSpec> remaining, int atOnce, double loadPerCore) {
        out.println(plan.experiment().name() + " --scale " + plan.scaleName() + ": " + plan.experiment().question());
        out.println(plan.scale().about());
        plan.missing().forEach((configuration, why) -> out.println("omitted: " + configuration + ": " + why));
        out.println(
                remaining.size() + " runs"
                        + (remaining.size() < plan.runs().size() ? " of " + plan.runs().size() + " remain" : "")
                        + ", about " + Durations.words(plan.estimateSeconds(remaining, atOnce))
                        + (atOnce > 1 ? ", " + atOnce + " at a time" : "") + "; results in " + files.directory());
        if (BusyMachine.isBusyAtStart(loadPerCore)) {
            out.println("varve: the machine is busy, so the results may be wrong: " + BusyMachine.ofLoad(loadPerCore));
        }
        out.flush();
    }

    private static void interrupt(Cancellation cancellation, CountDownLatch written) {
        cancellation.cancel();
        try {
            if (!written.await(REPORT_SECONDS, TimeUnit.SECONDS)) {
                System.err.println(
                        "varve: the report was not ready after " + REPORT_SECONDS
                                + " s; the files of the runs are kept");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void runAll(List<RunSpec> remaining, int atOnce, int cores, double loadPerCore, Cancellation cancellation)
            throws IOException {
        Queue<RunSpec> queue = new ConcurrentLinkedQueue<>(remaining);
        AtomicReference<IOException> fault = new AtomicReference<>();
        try (Progress progress = new Progress(out, plan.runs().size(), plan.runs().size() - remaining.size(),
                plan.estimateSeconds(remaining, atOnce))) {
            Runner runner = new Runner(plan, new Targets(home), files, progress, cancellation, loadPerCore);
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < atOnce; number++) {
                Pinning ofOneCore = Pinning.oneCoreEach(cores, plan.maxEventLoops());
                Pinning ofConcurrentRun = Pinning.ofConcurrentRun(number, cores);
                threads.add(Thread.ofPlatform().name("run-" + number).start(() -> {
                    try {
                        for (RunSpec run = queue.poll(); run != null
                                && !cancellation.isCancelled(); run = queue.poll()) {
                            printOutcome(progress,
                                    runner.run(run, oneCoreEach(plan.kind(run)) ? ofOneCore : ofConcurrentRun));
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

    private int conclude(Cancellation cancellation) throws IOException {
        List<RunRecord> records = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            files.read(run).ifPresent(records::add);
        }
        Summary summary = Summary.of(plan, records);
        summary.write(files.directory());
        Path report = new Report(plan, files, summary).write();
        out.print(summary.table());
        out.print(PaperTables.text(PaperTables.of(plan, summary)));
        out.println("Report: " + report);
        if (cancellation.isCancelled()) {
            out.println("Interrupted; to continue: ./varve run --resume " + files.directory());
            return STATUS_INTERRUPTED;
        }
        List<String> failedChecks = summary.failedChecks();
        failedChecks.forEach(line -> out.println("varve: " + line));
        BusyMachine.warning(records).ifPresent(line -> out.println("varve: " + line));
        hasFailedRuns = records.stream().anyMatch(record -> record.outcome() != Outcome.OK);
        return hasFailedRuns || !failedChecks.isEmpty() ? STATUS_FAILED : 0;
    }
}
