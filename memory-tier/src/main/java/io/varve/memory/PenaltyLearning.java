package io.varve.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.ClassCounts;
import io.varve.memory.locality.ClassPenalties;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.offheap.Regions;
import io.varve.memory.penalty.RememberedClasses;
import io.varve.memory.shard.PenaltyTracking;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Has penalties tracked in all shards, and learns period by period what a miss costs in each class. Many threads: shards guard what is counted; settings are
 * changed by one thread at a time; {@link #slice} and {@link #endPeriod} are maintenance's.
 *
 * <p>Tables are in proportion to maxmemory: what is remembered has a 128th of it, 16 MiB at the most (the paper's Table 3), misses that wait
 * for a write have half as much, 2 MiB at the most: a quarter of a million of them. Of a small maxmemory a thirty-second may go into tables as small
 * as they can be; where that is not enough for all shards there are none, and classes are those that clients name, or that items had.
 */
final class PenaltyLearning {
    private static final long MOST_MONITOR_BYTES = 2 << 20;
    private static final int MONITOR_PART = 256;
    private static final int REMEMBERED_PART = 128;
    private static final int LARGEST_PART = 32;
    /** How often is counted how many accesses there were, where the recorder does not tell. */
    private static final long COUNT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** How often memory is asked for that was refused. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ShardContext context;
    private final Shard[] shards;
    private final Room room;
    private final MemoryDivision division;
    private final int classes;
    private volatile long windowAccesses;
    /** How often tracking has begun. */
    private long begun;
    /** What was learnt since penalties are tracked; null if they are not. */
    private volatile @Nullable Learnt learnt;
    /** Maintenance's. */
    private long countedNanos;
    private long triedNanos;

    /** What was learnt. Maintenance's, but for what is told to others, which is published whole. */
    private static final class Learnt {
        private final ClassPenalties penalties;
        private ClassCounts before = new ClassCounts(PenaltyRanges.MOST);
        /** What each shard had counted when it was looked at last; null before. */
        private final @Nullable ClassCounts[] counted;
        /** By class, NaN while nothing was measured. */
        private volatile double[] micros;

        private Learnt(int classes, int shards) {
            counted = new ClassCounts[shards];
            penalties = new ClassPenalties(PenaltyRanges.MOST);
            micros = new double[classes];
            Arrays.fill(micros, Double.NaN);
        }
    }

    PenaltyLearning(ShardContext context, Shard[] shards, Room room, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.room = room;
        classes = config.penalties().classes();
        context.classes(classes);
        division = new MemoryDivision(context);
        countedNanos = context.ticker().nanoTime();
        triedNanos = countedNanos;
        reconfigure(config);
    }

    /**
     * Begins or ends tracking, as it is asked for. Where memory is full, maintenance makes room for tables shard by shard: until then misses are not
     * measured there. Nor does it wait for a shard that is held for long, which may be by one who waits for the caller: maintenance follows there, too.
     */
    void reconfigure(CacheConfig config) {
        windowAccesses = config.curves().windowAccesses();
        division.reconfigure(config);
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
            if (shard.lockWithin(Shard.PATIENCE_NAPS, false)) {
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
                tableBytes(memory, shards, MONITOR_PART, Regions.MIN_BYTES, MOST_MONITOR_BYTES),
                ranges.classes() == 1
                        ? 0
                        : tableBytes(memory, shards, REMEMBERED_PART, RememberedClasses.MIN_BYTES,
                                RememberedClasses.DEFAULT_BYTES));
    }

    /** What each shard has of a kind of tables, bytes: a power of two, or 0. */
    private static long tableBytes(long memoryBytes, int shards, int part, long least, long mostInAll) {
        if (least * shards > memoryBytes / LARGEST_PART) {
            return 0;
        }
        return Math.max(least, Long.highestOneBit(Math.min(memoryBytes / part, mostInAll) / shards));
    }

    private static boolean settle(Shard shard) {
        shard.lock();
        try {
            return shard.penalties().settle();
        } finally {
            shard.unlock();
        }
    }

    /** How many classes there are. */
    int classes() {
        return context.tracking() == null ? 1 : classes;
    }

    // --- maintenance's

    /** Takes memory that was refused, has shards follow that were held, and ends a period if the recorder of accesses does not tell when. */
    void slice(Runnable giveWay) {
        long now = context.ticker().nanoTime();
        if (now - triedNanos >= RETRY_NANOS) {
            triedNanos = now;
            settleAll(giveWay);
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

    private void settleAll(Runnable giveWay) {
        PenaltyTracking tracking = context.tracking();
        long wanted = tracking == null ? 0 : tracking.monitorBytes() + tracking.rememberedBytes();
        for (Shard shard : shards) {
            // One that is held for long is looked at another time.
            if (shard.lockWithin(Shard.PATIENCE_NAPS, false)) {
                boolean settled;
                try {
                    settled = shard.penalties().isSettled();
                } finally {
                    shard.unlock();
                }
                if (!settled && (wanted != 0 && !room.admit(wanted) || !settle(shard))) {
                    return;
                }
            }
            giveWay.run();
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
     * The recorder's window has ended, and with it the period: what misses cost is known anew, and memory is divided by it.
     *
     * @param memoryBytes that items can have, in bytes of the curves
     */
    void endPeriod(AccessRecorder recorder, double memoryBytes, Runnable giveWay) {
        Learnt present = learnt;
        if (present != null) {
            ClassCounts period = endPeriod(present, counts(present));
            if (recorder.classes() == classes) {
                division.divide(recorder, memoryBytes, period, present.penalties, giveWay);
            }
        }
    }

    private ClassCounts endPeriod(Learnt present, ClassCounts counts) {
        ClassCounts period = counts.since(present.before);
        present.before = counts;
        present.penalties.endPeriod(period);
        double[] told = new double[classes];
        double[] weighed = new double[classes];
        boolean known = false;
        for (int i = 0; i < classes; i++) {
            weighed[i] = present.penalties.micros(i);
            told[i] = present.penalties.isKnown(i) ? weighed[i] : Double.NaN;
            known |= present.penalties.isKnown(i);
        }
        present.micros = told;
        context.missMicros(known ? weighed : null);
        if (learnt != present) {
            // Tracking has ended, or begun anew, meanwhile.
            context.missMicros(null);
        }
        return period;
    }

    /** What was counted since penalties are tracked; of a shard that is held for long, what was counted when it was looked at last. */
    private ClassCounts counts(Learnt present) {
        ClassCounts counts = new ClassCounts(PenaltyRanges.MOST);
        for (int i = 0; i < shards.length; i++) {
            if (shards[i].lockWithin(Shard.PATIENCE_NAPS, false)) {
                try {
                    ClassCounts own = new ClassCounts(PenaltyRanges.MOST);
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

    // --- for who asks

    /** See {@link Cache#penalties}. */
    @Nullable
    PenaltyReport report() {
        Learnt present = learnt;
        PenaltyTracking tracking = context.tracking();
        if (present == null || tracking == null) {
            return null;
        }
        ClassCounts counts = new ClassCounts(PenaltyRanges.MOST);
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
        return new PenaltyReport(reports, measured, remembered, taken, division.count(), division.curvesMicros(),
                division.divisionMicros());
    }

    /** Before a period has ended, the mean of what there is. */
    private static double micros(Learnt present, ClassCounts counts, int penaltyClass) {
        double told = present.micros[penaltyClass];
        return Double.isNaN(told) && counts.penalties(penaltyClass) > 0
                ? (double) counts.micros(penaltyClass) / counts.penalties(penaltyClass)
                : told;
    }
}
