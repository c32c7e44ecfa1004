package io.varve.ycsb;

import java.io.PrintStream;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

import org.jspecify.annotations.Nullable;
import site.ycsb.measurements.Measurements;

/**
 * What all {@link CacheAsideClient}s of a process share: the first that is opened makes it, the last that leaves tells what
 * they have done. Guarded by itself.
 */
final class SharedRun {

    private int clients;
    private @Nullable State state;
    private @Nullable CacheAsideSummary last;

    /** What is counted and agreed on between clients. Guarded by its parts, and by itself. */
    static final class State {
        final LongAdder hits = new LongAdder();
        final LongAdder misses = new LongAdder();
        final LongAdder filled = new LongAdder();
        final LongAdder overtaken = new LongAdder();
        final LongAdder refused = new LongAdder();
        final LongAdder invalidations = new LongAdder();

        private final LongAdder unhinted = new LongAdder();
        private final AtomicBoolean unhintedTold = new AtomicBoolean();
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

        /** What the first client does while the others wait for it; if it fails, the next one tries. */
        synchronized void prepareOnce(Runnable preparation) {
            if (!prepared) {
                preparation.run();
                prepared = true;
            }
        }

        /** A client has all its connections. */
        void begin() {
            begun = true;
        }

        /** A record was put into the cache without the hint that was to go with it: told once by all clients. */
        void unhinted(String why) {
            unhinted.increment();
            if (unhintedTold.compareAndSet(false, true)) {
                Failures.say(CacheAsideOptions.HINT
                        + "=true: the cache refuses hints by now, and what is put into it is without"
                        + " (further ones are only counted): " + why);
            }
        }

        PendingFills fills() {
            return fills;
        }

        DatabaseCounters counters(Side side) {
            return side == Side.LOCAL ? local : remote;
        }

        StressSwitch stress() {
            return stress;
        }

        Measurements measurements() {
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

    /** A client was made. Called before it is used, so that a fast client does not end what a slow one is to begin. */
    synchronized void join() {
        clients++;
    }

    /**
     * A client begins.
     *
     * @param properties YCSB's, for its measurements
     */
    synchronized State open(StressOptions stress, Properties properties) {
        State present = state;
        if (present == null) {
            Measurements.setProperties(properties);
            present = new State(stress, Measurements.getMeasurements());
            state = present;
        }
        return present;
    }

    /** A client has ended; after the last it is told what they have done, if any could begin. */
    synchronized void leave(PrintStream to) {
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

    /** Of the run that goes on, else of the last one; null if there was none. */
    synchronized @Nullable CacheAsideSummary summary() {
        return state == null ? last : state.summary();
    }
}
