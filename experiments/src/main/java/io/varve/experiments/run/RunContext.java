package io.varve.experiments.run;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.plan.Plan;
import io.varve.experiments.plan.RunSpec;
import io.varve.experiments.result.Cell;
import io.varve.experiments.result.Measured;
import io.varve.experiments.result.RunRecord.Check;
import io.varve.experiments.result.RunRecord.Phase;
import io.varve.experiments.server.Pinning;
import io.varve.experiments.server.Target;
import org.jspecify.annotations.Nullable;

/**
 * What a run in progress has: its server, its folder, and what it has found so far. Confined to the thread that does the
 * run, but for what the progress line reads, which is volatile.
 */
final class RunContext {
    final Plan plan;
    final RunSpec run;
    final Path directory;
    final Target target;
    final Pinning pinning;
    final Stop stop;
    final LoadGauge gauge = new LoadGauge();
    final long startNanos = System.nanoTime();
    final Measured measured = new Measured();
    final List<String> faults = new ArrayList<>();
    final List<Phase> phases = new ArrayList<>();
    final List<Check> checks = new ArrayList<>();
    final List<Cell> cells = new ArrayList<>();
    final Map<String, String> load = new LinkedHashMap<>();
    volatile String phase = "start";
    volatile @Nullable Monitor monitor;

    RunContext(Plan plan, RunSpec run, Path directory, Target target, Pinning pinning, Stop stop) {
        this.plan = plan;
        this.run = run;
        this.directory = directory;
        this.target = target;
        this.pinning = pinning;
        this.stop = stop;
    }

    long elapsedMillis() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    }

    /** A part of a run that can fail as input and output do. */
    interface Part {
        void run() throws java.io.IOException;
    }

    /** Does a part and notes when it began and ended; does nothing any more once the run is to stop or has failed. */
    void phase(String name, Part part) throws java.io.IOException {
        if (stop.isAsked() || isFailed()) {
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

    /** Waits, as long as the server lives and the monitor samples. */
    void pause(long millis) {
        long end = elapsedMillis() + millis;
        while (elapsedMillis() < end && !stop.await(Math.min(250, end - elapsedMillis())) && !isFailed()) {
            Thread.onSpinWait();
        }
    }

    /** Whether the run has come to harm; says so once. */
    boolean isFailed() {
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
