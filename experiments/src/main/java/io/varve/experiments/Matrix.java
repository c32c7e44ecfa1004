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

import io.varve.experiments.definition.Experiment.Kind;
import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.report.Report;
import io.varve.experiments.result.PaperTables;
import io.varve.experiments.result.RunFiles;
import io.varve.experiments.result.RunRecord;
import io.varve.experiments.result.RunRecord.Outcome;
import io.varve.experiments.result.Summary;
import io.varve.experiments.run.Durations;
import io.varve.experiments.run.Progress;
import io.varve.experiments.run.Runner;
import io.varve.experiments.run.Stop;
import io.varve.experiments.server.Pinning;
import io.varve.experiments.server.Targets;

/**
 * All runs of a plan, as many at once as the cores allow; then the summary and the report. Confined to the main thread,
 * which starts one thread per lane.
 *
 * <p>Runs that are done already are kept. Ctrl-C stops the runs in progress, and what there is is still summed up.
 */
final class Matrix {
    /** A run failed, or a check was not held. */
    static final int STATUS_FAILED = 1;
    static final int STATUS_INTERRUPTED = 130;
    /** How long Ctrl-C waits for the report. */
    private static final long REPORT_SECONDS = 60;

    private final Plan plan;
    private final RunFiles files;
    private final Path home;
    private final PrintStream out = System.out;

    Matrix(Plan plan, RunFiles files, Path home) {
        this.plan = plan;
        this.files = files;
        this.home = home;
    }

    /** @return the command's status */
    int run() throws IOException {
        List<RunSpec> left = new ArrayList<>();
        for (RunSpec run : plan.runs()) {
            Optional<RunRecord> before = files.read(run);
            if (before.isEmpty() || before.get().outcome() != Outcome.OK) {
                left.add(run);
            }
        }
        int cores = Runtime.getRuntime().availableProcessors();
        // Our own process is one, and a throughput that another run may slow down is none.
        boolean alone = plan.scale().embedded() || plan.runs().stream().map(plan::kind)
                .anyMatch(kind -> oneCoreEach(kind) || kind == Kind.FRAGMENTATION || kind == Kind.PENALTY);
        int atOnce = alone ? 1 : Math.clamp(left.size(), 1, Pinning.atOnce(cores));
        announce(left, atOnce);
        Stop stop = new Stop();
        CountDownLatch written = new CountDownLatch(1);
        Thread hook = new Thread(() -> interrupt(stop, written), "interrupt");
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            runAll(left, atOnce, cores, stop);
            return conclude(stop);
        } finally {
            written.countDown();
            if (!stop.isAsked()) {
                Runtime.getRuntime().removeShutdownHook(hook);
            }
        }
    }

    private static boolean oneCoreEach(Kind kind) {
        return Plan.takesTurns(kind) || kind == Kind.LATENCY;
    }

    private void announce(List<RunSpec> left, int atOnce) {
        out.println(plan.experiment().name() + " --scale " + plan.scaleName() + ": " + plan.experiment().asks());
        out.println(plan.scale().about());
        plan.missing().forEach((configuration, why) -> out.println("left out: " + configuration + ": " + why));
        out.println(
                left.size() + " runs" + (left.size() < plan.runs().size() ? " of " + plan.runs().size() + " left" : "")
                        + ", about " + Durations.words(plan.estimateSeconds(left, atOnce))
                        + (atOnce > 1 ? ", " + atOnce + " at once" : "") + "; results in " + files.directory());
        out.flush();
    }

    private static void interrupt(Stop stop, CountDownLatch written) {
        stop.ask();
        try {
            if (!written.await(REPORT_SECONDS, TimeUnit.SECONDS)) {
                System.err.println(
                        "varve: the report was not ready in " + REPORT_SECONDS + " s; the runs' files are kept");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void runAll(List<RunSpec> left, int atOnce, int cores, Stop stop) throws IOException {
        Queue<RunSpec> queue = new ConcurrentLinkedQueue<>(left);
        AtomicReference<IOException> fault = new AtomicReference<>();
        try (Progress progress = new Progress(out, plan.runs().size(), plan.runs().size() - left.size(),
                plan.estimateSeconds(left, atOnce))) {
            Runner runner = new Runner(plan, new Targets(home), files, progress, stop);
            List<Thread> lanes = new ArrayList<>();
            for (int lane = 0; lane < atOnce; lane++) {
                Pinning oneEach = Pinning.oneCoreEach(cores, plan.mostEventLoops());
                Pinning ofLane = Pinning.ofLane(lane, cores);
                lanes.add(Thread.ofPlatform().name("lane-" + lane).start(() -> {
                    try {
                        for (RunSpec run = queue.poll(); run != null && !stop.isAsked(); run = queue.poll()) {
                            tell(progress, runner.run(run, oneCoreEach(plan.kind(run)) ? oneEach : ofLane));
                        }
                    } catch (IOException | UncheckedIOException e) {
                        fault.compareAndSet(null, e instanceof IOException io ? io : new IOException(e));
                        stop.ask();
                    }
                }));
            }
            for (Thread lane : lanes) {
                lane.join();
            }
        } catch (InterruptedException e) {
            stop.ask();
            Thread.currentThread().interrupt();
        }
        IOException ours = fault.get();
        if (ours != null) {
            throw ours;
        }
    }

    private static void tell(Progress progress, RunRecord record) {
        progress.say(switch (record.outcome()) {
            case OK -> "done    " + record.run().id();
            case INTERRUPTED -> "stopped " + record.run().id();
            case FAILED -> "FAILED  " + record.run().id() + ": " + String.join("; ", record.faults());
        });
    }

    private int conclude(Stop stop) throws IOException {
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
        if (stop.isAsked()) {
            out.println("Interrupted; go on with: ./varve run --resume " + files.directory());
            return STATUS_INTERRUPTED;
        }
        List<String> notHeld = summary.notHeld();
        notHeld.forEach(line -> out.println("varve: " + line));
        boolean whole = records.stream().allMatch(record -> record.outcome() == Outcome.OK);
        return whole && notHeld.isEmpty() ? 0 : STATUS_FAILED;
    }
}
