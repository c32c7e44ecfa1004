package io.varve.memory.learning;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.partition.ClassCounts;
import io.varve.memory.locality.partition.ClassPenalties;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.maintenance.MemoryReclaimer;
import io.varve.memory.offheap.Regions;
import io.varve.memory.penalty.RememberedClasses;
import io.varve.memory.report.ClassReport;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.context.PenaltyTracking;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Tracks penalties in all shards and learns, period by period, what a miss costs in each class. Thread-safe: shards
 * guard the counters; one thread at a time changes settings; only the maintenance thread calls {@link #slice} and
 * {@link #endPeriod}.
 *
 * <p>Table sizes are proportional to maxmemory. Remembered classes get a 128th of it, at most 16 MiB (the paper's Table
 * 3). Misses that wait for a write get half as much, at most 2 MiB, which is a quarter of a million misses. With a
 * small maxmemory, tables of the minimum size may take up to a thirty-second of it. If even that does not suffice for
 * all shards, there are no tables. Classes are then those that clients name, or that items already have.
 */
public final class PenaltyLearning {
    private static final long MAX_MONITOR_BYTES = 2 << 20;
    private static final int MONITOR_PART = 256;
    private static final int REMEMBERED_PART = 128;
    private static final int LARGEST_PART = 32;
    /** The interval for counting accesses, if there is no recorder. */
    private static final long COUNT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** The interval for retrying refused allocations. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ShardContext context;
    private final Shard[] shards;
    private final MemoryReclaimer reclaimer;
    private final PartitionController partitionController;
    private final int classes;
    private volatile long windowAccesses;
    /** How often tracking has begun. */
    private long begun;
    /** The results since tracking began; null if it is off. */
    private volatile @Nullable Learnt learnt;
    /** Used only by maintenance. */
    private long countedNanos;
    private long triedNanos;

    /**
     * The results since tracking began. Used only by maintenance, except {@link #micros}, which is published as a
     * whole.
     */
    private static final class Learnt {
        private final ClassPenalties penalties;
        private ClassCounts before = new ClassCounts(PenaltyRanges.MAX_CLASSES);
        /** The counters of each shard at the last reading; null before. */
        private final @Nullable ClassCounts[] counted;
        /** By class; NaN until something is measured. */
        private volatile double[] micros;

        private Learnt(int classes, int shards) {
            counted = new ClassCounts[shards];
            penalties = new ClassPenalties(PenaltyRanges.MAX_CLASSES);
            micros = new double[classes];
            Arrays.fill(micros, Double.NaN);
        }
    }

    public PenaltyLearning(ShardContext context, Shard[] shards, MemoryReclaimer reclaimer, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.reclaimer = reclaimer;
        classes = config.penalties().classes();
        context.classes(classes);
        partitionController = new PartitionController(context);
        countedNanos = context.ticker.nanoTime();
        triedNanos = countedNanos;
        reconfigure(config);
    }

    /**
     * Starts or stops tracking, as configured. If memory is full, maintenance frees memory for the tables shard by
     * shard; until then misses are not measured there. It does not block on a shard that is held for long, perhaps by a
     * thread that waits for the caller: maintenance updates that one later.
     */
    public void reconfigure(CacheConfig config) {
        windowAccesses = config.curves().windowAccesses();
        partitionController.reconfigure(config);
        PenaltyTracking before = context.tracking();
        if (before == null && config.tracksPenalties()) {
            begun++;
        }
        PenaltyTracking wanted = config.tracksPenalties() ? trackingFor(config, begun, shards.length) : null;
        if (wanted == null ? before == null : wanted.equals(before)) {
            return;
        }
        if (wanted == null) {
            learnt = null;
            context.missMicros(null);
        }
        context.tracking(wanted);
        for (Shard shard : shards) {
            if (shard.lockWithin(Shard.DEFAULT_NAPS, false)) {
                try {
                    shard.penalties().settle();
                } finally {
                    shard.unlock();
                }
            }
        }
        if (before == null) {
            learnt = new Learnt(classes, shards.length);
        }
    }

    private static PenaltyTracking trackingFor(CacheConfig config, long begun, int shards) {
        long memory = config.maxMemoryBytes();
        PenaltyRanges ranges = new PenaltyRanges(config.penalties().classes());
        return new PenaltyTracking(begun, ranges,
                tableBytes(memory, shards, MONITOR_PART, Regions.MIN_BYTES, MAX_MONITOR_BYTES),
                ranges.classes() == 1
                        ? 0
                        : tableBytes(memory, shards, REMEMBERED_PART, RememberedClasses.MIN_BYTES,
                                RememberedClasses.DEFAULT_BYTES));
    }

    /** The bytes of each shard's tables of one kind: a power of two, or 0. */
    private static long tableBytes(long memoryBytes, int shards, int part, long min, long maxTotal) {
        if (min * shards > memoryBytes / LARGEST_PART) {
            return 0;
        }
        return Math.max(min, Long.highestOneBit(Math.min(memoryBytes / part, maxTotal) / shards));
    }

    private static boolean settle(Shard shard) {
        shard.lock();
        try {
            return shard.penalties().settle();
        } finally {
            shard.unlock();
        }
    }

    /** The number of classes. */
    public int classes() {
        return context.tracking() == null ? 1 : classes;
    }

    // --- for maintenance

    /**
     * Retries refused allocations, updates shards that were held, and ends a period if there is no access recorder to
     * end it.
     */
    public void slice(Runnable pause) {
        long now = context.ticker.nanoTime();
        if (now - triedNanos >= RETRY_NANOS) {
            triedNanos = now;
            settleAll(pause);
        }
        Learnt present = learnt;
        if (present != null && context.recorder() == null && now - countedNanos >= COUNT_NANOS) {
            countedNanos = now;
            ClassCounts counts = counts(present);
            if (accesses(counts.since(present.before)) >= windowAccesses) {
                endPeriod(present, counts);
            }
        }
    }

    private void settleAll(Runnable pause) {
        PenaltyTracking tracking = context.tracking();
        long wanted = tracking == null ? 0 : tracking.monitorBytes() + tracking.rememberedBytes();
        for (Shard shard : shards) {
            // A shard that is held for long is checked another time.
            if (shard.lockWithin(Shard.DEFAULT_NAPS, false)) {
                boolean settled;
                try {
                    settled = shard.penalties().isSettled();
                } finally {
                    shard.unlock();
                }
                if (!settled && (wanted != 0 && !reclaimer.admit(wanted) || !settle(shard))) {
                    return;
                }
            }
            pause.run();
        }
    }

    private static long accesses(ClassCounts counts) {
        long accesses = 0;
        for (int i = 0; i < counts.classes(); i++) {
            accesses += counts.accesses(i);
        }
        return accesses;
    }

    /**
     * Ends the period with the recorder's window: updates the cost of misses and partitions memory by it.
     *
     * @param memoryBytes the bytes for items, as the curves count them
     */
    void endPeriod(AccessRecorder recorder, double memoryBytes, Runnable pause) {
        Learnt present = learnt;
        if (present != null) {
            ClassCounts period = endPeriod(present, counts(present));
            if (recorder.classes() == classes) {
                partitionController.divide(recorder, memoryBytes, period, present.penalties, pause);
            }
        }
    }

    private ClassCounts endPeriod(Learnt present, ClassCounts counts) {
        ClassCounts period = counts.since(present.before);
        present.before = counts;
        present.penalties.endPeriod(period);
        double[] reported = new double[classes];
        double[] weighed = new double[classes];
        boolean known = false;
        for (int i = 0; i < classes; i++) {
            weighed[i] = present.penalties.micros(i);
            reported[i] = present.penalties.isKnown(i) ? weighed[i] : Double.NaN;
            known |= present.penalties.isKnown(i);
        }
        present.micros = reported;
        context.missMicros(known ? weighed : null);
        if (learnt != present) {
            // Tracking has stopped or restarted since the period began.
            context.missMicros(null);
        }
        return period;
    }

    /** The counts since tracking began; for a shard that is held for long, those of the last reading. */
    private ClassCounts counts(Learnt present) {
        ClassCounts counts = new ClassCounts(PenaltyRanges.MAX_CLASSES);
        for (int i = 0; i < shards.length; i++) {
            if (shards[i].lockWithin(Shard.DEFAULT_NAPS, false)) {
                try {
                    ClassCounts own = new ClassCounts(PenaltyRanges.MAX_CLASSES);
                    shards[i].penalties().addTo(own);
                    present.counted[i] = own;
                } finally {
                    shards[i].unlock();
                }
            }
            ClassCounts known = present.counted[i];
            if (known != null) {
                known.addTo(counts);
            }
        }
        return counts;
    }

    // --- for other threads

    /** See {@link io.varve.memory.Cache#penalties}. */
    public @Nullable PenaltyReport report() {
        Learnt present = learnt;
        PenaltyTracking tracking = context.tracking();
        if (present == null || tracking == null) {
            return null;
        }
        ClassCounts counts = new ClassCounts(PenaltyRanges.MAX_CLASSES);
        long[] bytes = new long[classes];
        long all = 0;
        long remembered = 0;
        long taken = 0;
        for (Shard shard : shards) {
            shard.lock();
            try {
                shard.penalties().addTo(counts);
                for (int i = 0; i < classes; i++) {
                    bytes[i] += shard.classBytes(i);
                    all += shard.classBytes(i);
                }
                remembered += shard.penalties().rememberedKeys();
                taken += shard.penalties().bytes();
            } finally {
                shard.unlock();
            }
        }
        double[] shares = context.shares();
        List<ClassReport> reports = new ArrayList<>(classes);
        long measured = 0;
        for (int i = 0; i < classes; i++) {
            measured += counts.penalties(i);
            reports.add(new ClassReport(i, tracking.ranges().text(i), micros(present, counts, i), counts.reads(i),
                    counts.misses(i), counts.writes(i), bytes[i], all == 0 ? 0 : (double) bytes[i] / all,
                    shares == null ? Double.NaN : shares[i]));
        }
        return new PenaltyReport(reports, measured, remembered, taken, partitionController.count(),
                partitionController.curvesMicros(),
                partitionController.divisionMicros());
    }

    /** Before the first period has ended, the mean of the present measurements. */
    private static double micros(Learnt present, ClassCounts counts, int penaltyClass) {
        double reported = present.micros[penaltyClass];
        return Double.isNaN(reported) && counts.penalties(penaltyClass) > 0
                ? (double) counts.micros(penaltyClass) / counts.penalties(penaltyClass)
                : reported;
    }
}
