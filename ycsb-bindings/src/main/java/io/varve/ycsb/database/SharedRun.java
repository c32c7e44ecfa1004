package io.varve.ycsb.database;

import java.io.PrintStream;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import io.varve.ycsb.connection.Failures;
import io.varve.ycsb.option.CacheAsideOptions;
import io.varve.ycsb.option.Side;
import io.varve.ycsb.option.StressOptions;
import org.jspecify.annotations.Nullable;
import site.ycsb.measurements.Measurements;

/**
 * The state that all {@link io.varve.ycsb.CacheAsideClient}s of a process share: the first one that opens creates it,
 * and the last one that ends prints the summary. Guarded by {@code this}.
 */
public final class SharedRun {

    private int clients;
    private @Nullable State state;
    private @Nullable CacheAsideSummary last;

    /** The counters and the agreements between clients. Guarded by its parts, and by {@code this}. */
    public static final class State {
        public final LongAdder hits = new LongAdder();
        public final LongAdder misses = new LongAdder();
        public final LongAdder filled = new LongAdder();
        public final LongAdder overtaken = new LongAdder();
        public final LongAdder refused = new LongAdder();
        public final LongAdder invalidations = new LongAdder();

        private final LongAdder unhinted = new LongAdder();
        private final AtomicBoolean unhintedReported = new AtomicBoolean();
        private volatile boolean begun;
        private boolean prepared;
        private final PendingFills fills = new PendingFills();
        private final DatabaseCounters local = new DatabaseCounters();
        private final DatabaseCounters remote = new DatabaseCounters();
        private final StressSwitch stress;
        private final Measurements measurements;

        State(StressOptions stress, Measurements measurements) {
            this.stress = new StressSwitch(stress, System::nanoTime);
            this.measurements = measurements;
        }

        /** The first client runs the preparation while the others wait; if it fails, the next one tries. */
        public synchronized void prepareOnce(Runnable preparation) {
            if (!prepared) {
                preparation.run();
                prepared = true;
            }
        }

        /** Reports that a client has all its connections. */
        public void begin() {
            begun = true;
        }

        /** Counts a record that was put into the cache without its hint; reported once for all clients. */
        public void unhinted(String why) {
            unhinted.increment();
            if (unhintedReported.compareAndSet(false, true)) {
                Failures.print(CacheAsideOptions.HINT
                        + "=true: the cache now refuses hints, so records are written without them"
                        + " (further refusals are only counted): " + why);
            }
        }

        public PendingFills fills() {
            return fills;
        }

        public DatabaseCounters counters(Side side) {
            return side == Side.LOCAL ? local : remote;
        }

        public StressSwitch stress() {
            return stress;
        }

        public Measurements measurements() {
            return measurements;
        }

        CacheAsideSummary summary() {
            StressSwitch.Switched switched = stress.switched();
            return new CacheAsideSummary(hits.sum(), misses.sum(), filled.sum(), overtaken.sum(), refused.sum(),
                    unhinted.sum(), invalidations.sum(), local.summary(), remote.summary(), switched != null,
                    switched == null ? 0 : switched.operations(),
                    switched == null ? 0 : TimeUnit.NANOSECONDS.toMillis(switched.nanos()));
        }
    }

    /**
     * Registers a client before its use, so that a fast client does not end the run that a slow one is about to begin.
     */
    public synchronized void join() {
        clients++;
    }

    /**
     * Begins a client's part of the run.
     *
     * @param properties YCSB's, for its measurements
     */
    public synchronized State open(StressOptions stress, Properties properties) {
        State present = state;
        if (present == null) {
            Measurements.setProperties(properties);
            present = new State(stress, Measurements.getMeasurements());
            state = present;
        }
        return present;
    }

    /** Ends a client's part; the last one prints the summary, if any client could begin. */
    public synchronized void leave(PrintStream to) {
        clients--;
        State open = state;
        if (clients > 0 || open == null) {
            return;
        }
        state = null;
        if (!open.begun) {
            return;
        }
        CacheAsideSummary summary = open.summary();
        last = summary;
        summary.print(to);
    }

    /** The counters of the current run, else of the last one; null if there was none. */
    public synchronized @Nullable CacheAsideSummary summary() {
        return state == null ? last : state.summary();
    }
}
