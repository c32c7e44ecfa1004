package io.varve.experiments.run.context;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.RunMetrics;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Phase;
import io.varve.experiments.server.Pinning;
import io.varve.experiments.server.Target;
import org.jspecify.annotations.Nullable;

/**
 * The state of a run in progress: its server, its folder, and its results so far. Confined to the thread that does the
 * run, except the volatile fields that the progress line reads.
 */
public final class RunContext {
    public final Plan plan;
    public final RunSpec run;
    public final Path directory;
    public final Target target;
    public final Pinning pinning;
    public final Cancellation cancellation;
    public final LoadGauge gauge = new LoadGauge();
    public final long startNanos = System.nanoTime();
    public final RunMetrics metrics = new RunMetrics();
    public final List<String> faults = new ArrayList<>();
    public final List<Phase> phases = new ArrayList<>();
    public final List<Check> checks = new ArrayList<>();
    public final List<Cell> cells = new ArrayList<>();
    public final Map<String, String> load = new LinkedHashMap<>();
    /** Name and version of the measured server. */
    public String serverVersion = "unknown";
    public volatile String phase = "start";
    public volatile @Nullable Monitor monitor;

    public RunContext(Plan plan, RunSpec run, Path directory, Target target, Pinning pinning,
            Cancellation cancellation) {
        this.plan = plan;
        this.run = run;
        this.directory = directory;
        this.target = target;
        this.pinning = pinning;
        this.cancellation = cancellation;
    }

    public long elapsedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }

    /** A part of a run that may fail with an I/O error. */
    public interface Part {
        void run() throws java.io.IOException;
    }

    /** Runs a part and records its begin and end; does nothing once the run is cancelled or has failed. */
    public void phase(String name, Part part) throws java.io.IOException {
        if (cancellation.isCancelled() || isFailed()) {
            return;
        }
        phase = name;
        long start = elapsedMillis();
        try {
            part.run();
        } finally {
            phases.add(new Phase(name, start, elapsedMillis()));
        }
    }

    /** Waits, as long as the server is alive and the monitor samples. */
    public void pause(long millis) {
        long end = elapsedMillis() + millis;
        while (elapsedMillis() < end && !cancellation.await(Math.min(250, end - elapsedMillis())) && !isFailed()) {
            Thread.onSpinWait();
        }
    }

    /** Whether the run has failed; records the reason once. */
    public boolean isFailed() {
        Monitor watching = monitor;
        String death = target.death();
        if (death != null && !faults.contains(death)) {
            faults.add(death);
        }
        if (watching != null) {
            String fault = watching.fault();
            if (fault != null && !faults.contains(fault)) {
                faults.add(fault);
            }
        }
        return !faults.isEmpty();
    }
}
