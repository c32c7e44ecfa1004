package io.varve.memory;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;
import java.util.stream.LongStream;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.LowerTier;
import io.varve.memory.locality.ClassCounts;
import io.varve.memory.locality.DemandCycle;
import io.varve.memory.locality.DemandCycle.Advice;
import io.varve.memory.locality.DemandCycles;
import io.varve.memory.locality.DemandSettings;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.locality.Returns;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import io.varve.memory.shard.ShardDemand;
import org.jspecify.annotations.Nullable;

/**
 * Watches the demand for each class of penalty: has the items of one fall whose valley has come, and come back when it wakes (pRedis, section 4). Many threads:
 * settings are changed by one thread at a time, who waits for no shard: he may hold them all, or what another one waits for who does; {@link #slice} is
 * maintenance's.
 *
 * <p>It watches where it is asked to, penalties are tracked and there is a tier below. Else nothing is counted or remembered for it.
 */
final class DemandWatch {
    private static final System.Logger LOG = System.getLogger(DemandWatch.class.getName());
    /** How often is summed what classes have, while something is loaded. */
    private static final long SUM_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Of all shards: so many tell well what share of a peak's keys returns. */
    private static final int KEYS = 1 << 16;
    private static final int LEAST_KEYS = 64;
    /** Of a shard: its table is walked over under the lock when it is full. */
    private static final int MOST_KEYS = 1 << 13;
    /** Of a small maxmemory so much is charged for it at the most. */
    private static final int LARGEST_PART = 16;
    private static final int WITHOUT_WAITING = -1;

    private final ShardContext context;
    private final Shard[] shards;
    private final Room room;
    private final int classes;
    private volatile long chargedBytes;
    /** What is known since it watches; null if it does not. */
    private volatile @Nullable Watched watched;
    /** By shard: whom it tells of its accesses. Guarded by itself. */
    private final @Nullable Watched[] tellsTo;

    /** What the last slot has shown: how many there were, and by class what was learnt. Immutable. */
    private record Learnt(long slots, List<Cycle> byClass) {}

    /** Of a class. Immutable. */
    private record Cycle(boolean periodic, long intervalSlots) {}

    /** Maintenance's, but for what others read. */
    private static final class Watched {
        private final DemandCycles cycles;
        private final ClassDumps dumps;
        /** By shard. What is in one is guarded by the shard's lock. */
        private final ShardDemand[] demands;
        private final AtomicLongArray wakes;
        /** The largest share that each class had since it is awake. */
        private final double[] shares;
        /** By shard, when it was looked at last; and all shards' together when the last slot ended. */
        private final ClassCounts[] counts;
        private @Nullable ClassCounts before;
        private long slotStartNanos;
        /** Shares that were changed here, and not divided. */
        private double @Nullable [] lent;
        private volatile Learnt learnt;
        /** By shard and class: bytes of items, and all shards' together, which are told to those who load. */
        private final long[][] bytesOf;
        private volatile long[] sums;
        private volatile boolean sumsAsked;
        private long summedNanos;

        private Watched(DemandCycles cycles, ClassDumps dumps, ShardDemand[] demands) {
            this.cycles = cycles;
            this.dumps = dumps;
            this.demands = demands;
            counts = new ClassCounts[demands.length];
            wakes = new AtomicLongArray(cycles.classes());
            shares = new double[cycles.classes()];
            sums = new long[cycles.classes()];
            bytesOf = new long[demands.length][cycles.classes()];
            learnt = learntAfter(0);
        }

        /** What is known of the classes after so many slots. */
        private Learnt learntAfter(long slots) {
            List<Cycle> byClass = new ArrayList<>(cycles.classes());
            for (int i = 0; i < cycles.classes(); i++) {
                DemandCycle cycle = cycles.of(i);
                byClass.add(new Cycle(cycle.periodic(), cycle.intervalSlots()));
            }
            return new Learnt(slots, byClass);
        }
    }

    DemandWatch(ShardContext context, Shard[] shards, Room room, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.room = room;
        classes = config.penalties().classes();
        tellsTo = new Watched[shards.length];
        reconfigure(config);
    }

    /**
     * Begins to watch, or ends it, as it is asked for; with other settings it begins anew. What is below then stays there until it is asked for. To be called after
     * those of whom it asks something were reconfigured, and when there is a tier below.
     */
    void reconfigure(CacheConfig config) {
        DemandSettings wanted = config.tracksPenalties() && context.lower() != null ? config.demand() : null;
        Watched present = watched;
        if (wanted == null) {
            watched = null;
            charge(0);
            boolean allTellAtOnce = tellShards(null, WITHOUT_WAITING);
            LOG.log(System.Logger.Level.DEBUG, "Demand is not watched any more; by all shards at once: {0}",
                    allTellAtOnce);
            return;
        }
        if (present == null || !present.cycles.settings().equals(wanted)) {
            present = begin(wanted);
            watched = present;
        }
        long tables = Arrays.stream(present.demands).mapToLong(ShardDemand::bytes).sum();
        charge(Math.min(present.cycles.bytes() + tables, config.maxMemoryBytes() / LARGEST_PART));
        // The others by maintenance, soon.
        boolean allTellAtOnce = tellShards(present, WITHOUT_WAITING);
        LOG.log(System.Logger.Level.DEBUG, "Demand is watched; in all shards at once: {0}", allTellAtOnce);
    }

    private Watched begin(DemandSettings settings) {
        DemandCycles cycles = new DemandCycles(classes, settings);
        int keys = Math.clamp(KEYS / shards.length, LEAST_KEYS, MOST_KEYS);
        ShardDemand[] demands = new ShardDemand[shards.length];
        Arrays.setAll(demands, _ -> new ShardDemand(cycles, keys));
        return new Watched(cycles, new ClassDumps(context, shards, classes), demands);
    }

    private void charge(long bytes) {
        long more = bytes - chargedBytes;
        if (more > 0) {
            context.budget().charge(more);
        } else {
            context.budget().release(-more);
        }
        chargedBytes = bytes;
    }

    /** What watching takes of maxmemory. */
    long bytes() {
        return chargedBytes;
    }

    // --- maintenance's

    /**
     * Ends a slot if it is over, and lets some items fall if a class is being dumped.
     *
     * @return whether there is more to do at once
     */
    boolean slice(Runnable giveWay) {
        Watched present = watched;
        if (!tellShards(present, Shard.PATIENCE_NAPS) || present == null) {
            return false;
        }
        int woken = present.cycles.takeWoken();
        for (int i = 0; woken != 0; i++, woken >>>= 1) {
            if ((woken & 1) != 0) {
                wake(present, i, giveWay);
            }
        }
        long now = context.ticker().nanoTime();
        if (present.sumsAsked && now - present.summedNanos >= SUM_NANOS) {
            sum(present, now, giveWay);
        }
        if (now - present.slotStartNanos >= slotNanos(present)) {
            endSlot(present, now, giveWay);
        }
        return present.dumps.slice(present.cycles::isDumped, giveWay);
    }

    /** Has shards tell of their accesses whom they are to tell now. @return false if another thread has one of them for long */
    private boolean tellShards(@Nullable Watched present, int naps) {
        synchronized (tellsTo) {
            boolean all = true;
            for (int i = 0; i < shards.length; i++) {
                all &= isSame(tellsTo[i], present) || tell(i, present, naps);
            }
            if (all && present != null && present.before == null) {
                present.before = sum(present.counts);
                present.slotStartNanos = context.ticker().nanoTime();
            }
            return all;
        }
    }

    @SuppressWarnings("ReferenceEquality") // Each is watched for itself, with the same settings too.
    private static boolean isSame(@Nullable Watched one, @Nullable Watched other) {
        return one == other;
    }

    private boolean tell(int shard, @Nullable Watched present, int naps) {
        if (!shards[shard].lockWithin(naps, false)) {
            return false;
        }
        try {
            shards[shard].penalties().demand(present == null ? null : present.demands[shard]);
            if (present != null) {
                present.counts[shard] = counts(shards[shard]);
            }
        } finally {
            shards[shard].unlock();
        }
        tellsTo[shard] = present;
        return true;
    }

    private static long slotNanos(Watched present) {
        return TimeUnit.MILLISECONDS.toNanos(present.cycles.settings().slotMillis());
    }

    private void endSlot(Watched present, long now, Runnable giveWay) {
        // A slot ends late where maintenance has other work, and a process that was stopped has slept through some: what counts is the rate.
        double late = (double) slotNanos(present) / (now - present.slotStartNanos);
        present.slotStartNanos = now;
        Returns[] returns = new Returns[classes];
        Arrays.fill(returns, Returns.NONE);
        boolean[] asked = new boolean[shards.length];
        forEach(i -> {
            asked[i] = true;
            present.counts[i] = counts(shards[i]);
            present.demands[i].takeReturns(returns);
        }, giveWay);
        ClassCounts counts = sum(present.counts);
        ClassCounts slot = counts.since(Objects.requireNonNull(present.before));
        present.before = counts;
        noteShares(present);
        present.dumps.endSlot();
        for (int i = 0; i < classes; i++) {
            Advice advice = present.cycles.endSlot(i, Math.round(Math.max(0, slot.accesses(i)) * late),
                    Math.round(Math.max(0, slot.reads(i)) * late), returns[i]);
            if (advice == Advice.DUMP) {
                present.dumps.begin(i);
            } else if (advice == Advice.LOAD) {
                wake(present, i, giveWay);
            }
            // A long history takes long to search.
            giveWay.run();
        }
        forEach(i -> {
            if (asked[i]) {
                present.demands[i].endSlot();
            }
        }, giveWay);
        present.learnt = present.learntAfter(present.learnt.slots + 1);
    }

    /** Under the lock of each shard, but for those that another thread has for long: what there is to know of them is known in the next slot. */
    private void forEach(IntConsumer action, Runnable giveWay) {
        for (int i = 0; i < shards.length; i++) {
            if (shards[i].lockWithin(Shard.PATIENCE_NAPS, false)) {
                try {
                    action.accept(i);
                } finally {
                    shards[i].unlock();
                }
            }
            giveWay.run();
        }
    }

    private static ClassCounts counts(Shard shard) {
        ClassCounts counts = new ClassCounts(PenaltyRanges.MOST);
        shard.penalties().addTo(counts);
        return counts;
    }

    private static ClassCounts sum(ClassCounts[] counts) {
        ClassCounts sum = new ClassCounts(PenaltyRanges.MOST);
        for (ClassCounts own : counts) {
            own.addTo(sum);
        }
        return sum;
    }

    /** Notes what the classes have while they are awake. */
    private void noteShares(Watched present) {
        double[] shares = context.shares();
        if (shares == null || Arrays.equals(shares, present.lent)) {
            return;
        }
        for (int i = 0; i < Math.min(classes, shares.length); i++) {
            if (!present.cycles.isDumped(i)) {
                present.shares[i] = Math.max(present.shares[i], ofGroup(i, shares));
            }
        }
    }

    private void wake(Watched present, int penaltyClass, Runnable giveWay) {
        present.wakes.incrementAndGet(penaltyClass);
        giveShareBack(present, penaltyClass);
        LowerTier lower = context.lower();
        if (lower != null) {
            sum(present, context.ticker().nanoTime(), giveWay);
            lower.load(penaltyClass);
        }
    }

    /**
     * A share that was divided in the valley says nothing of the peak: until memory is divided anew the class has what it had before. Else what comes back would be
     * over its share, and be the first to go.
     */
    private void giveShareBack(Watched present, int penaltyClass) {
        double[] shares = context.shares();
        double before = present.shares[penaltyClass];
        present.shares[penaltyClass] = 0;
        if (shares == null || penaltyClass >= shares.length) {
            return;
        }
        double presentShare = ofGroup(penaltyClass, shares);
        if (before <= presentShare) {
            return;
        }
        int[] groups = context.groups();
        double others = (1 - before) / (1 - presentShare);
        double[] changed = shares.clone();
        for (int i = 0; i < changed.length; i++) {
            changed[i] *= groups[i] != groups[penaltyClass] ? others : presentShare == 0 ? 0 : before / presentShare;
        }
        changed[penaltyClass] += presentShare == 0 ? before : 0;
        present.lent = changed;
        context.shares(changed);
        if (context.evictionPolicy() != EvictionPolicy.ALLKEYS_PENALTY) {
            // Another policy came meanwhile.
            context.shares(null);
        }
    }

    // --- for others

    /** See {@link Cache#demand}. */
    @Nullable
    DemandReport report() {
        Watched present = watched;
        if (present == null) {
            return null;
        }
        Learnt learnt = present.learnt;
        List<DemandReport.OfClass> reports = new ArrayList<>(classes);
        for (int i = 0; i < classes; i++) {
            reports.add(new DemandReport.OfClass(present.cycles.isDumped(i), learnt.byClass.get(i).periodic,
                    learnt.byClass.get(i).intervalSlots,
                    present.dumps.begun(i), present.dumps.givenUp(i), present.wakes.get(i), present.dumps.items(i)));
        }
        return new DemandReport(learnt.slots, reports, present.dumps.areUnderWay());
    }

    /** See {@link Cache#admitLoaded}. */
    boolean admitLoaded(int penaltyClass, long bytes) {
        Watched present = watched;
        if (present == null || penaltyClass >= classes || present.cycles.isDumped(penaltyClass)) {
            return false;
        }
        return room.admitFree(bytes) || isBelowItsShare(present, penaltyClass) && room.admit(bytes);
    }

    private boolean isBelowItsShare(Watched present, int penaltyClass) {
        double[] shares = context.shares();
        if (shares == null || penaltyClass >= shares.length) {
            return false;
        }
        present.sumsAsked = true;
        long[] sums = present.sums;
        int[] groups = context.groups();
        long taken = 0;
        for (int i = 0; i < Math.min(sums.length, shares.length); i++) {
            taken += groups[i] == groups[penaltyClass] ? sums[i] : 0;
        }
        return taken < ofGroup(penaltyClass, shares) * LongStream.of(sums).sum();
    }

    /** What a class and those of its group have together: only that is held to. */
    private double ofGroup(int penaltyClass, double[] shares) {
        int[] groups = context.groups();
        double sum = 0;
        for (int i = 0; i < shares.length; i++) {
            sum += groups[i] == groups[penaltyClass] ? shares[i] : 0;
        }
        return sum;
    }

    /** What the items of each class take; of a shard that is held for long, what they took when it was looked at last. */
    private void sum(Watched present, long now, Runnable giveWay) {
        present.summedNanos = now;
        present.sumsAsked = false;
        forEach(i -> {
            for (int of = 0; of < classes; of++) {
                present.bytesOf[i][of] = shards[i].classBytes(of);
            }
        }, giveWay);
        long[] sums = new long[classes];
        for (long[] own : present.bytesOf) {
            for (int of = 0; of < classes; of++) {
                sums[of] += own[of];
            }
        }
        present.sums = sums;
    }
}
