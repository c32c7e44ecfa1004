package io.varve.memory.learning;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntConsumer;
import java.util.stream.LongStream;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.locality.demand.DemandCycles;
import io.varve.memory.locality.demand.DemandSettings;
import io.varve.memory.locality.demand.PeriodicDemandDetector;
import io.varve.memory.locality.demand.PeriodicDemandDetector.Advice;
import io.varve.memory.locality.demand.ReuseSample;
import io.varve.memory.locality.partition.ClassCounts;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.maintenance.ClassDemotion;
import io.varve.memory.maintenance.MemoryReclaimer;
import io.varve.memory.report.DemandReport;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.context.ClassShares;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.learning.ShardDemand;
import org.jspecify.annotations.Nullable;

/**
 * Watches the demand for each penalty class: demotes the items of a class whose valley has come, and loads them back
 * when the class wakes (pRedis, section 4). Thread-safe: one thread at a time changes settings; only the maintenance
 * thread calls {@link #slice}. The thread that changes settings must not block on a shard's lock: it may hold all of
 * them, or a lock for which the holder of all of them waits.
 *
 * <p>The controller is active if it is configured, penalties are tracked and there is a secondary tier.
 * Otherwise it counts and remembers nothing.
 */
public final class DemandController {
    private static final System.Logger LOG = System.getLogger(DemandController.class.getName());
    /** The interval between sums of the classes' bytes, while a class is loaded. */
    private static final long SUM_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    /** Sampled keys of all shards together: enough to estimate the share of a peak's keys that return. */
    private static final int KEYS = 1 << 16;
    private static final int MIN_KEYS = 64;
    /** The most sampled keys of one shard: its table is walked under the lock when it is full. */
    private static final int MAX_KEYS = 1 << 13;
    /** With a small maxmemory, at most this part of it is charged for watching demand. */
    private static final int LARGEST_PART = 16;
    private static final int WITHOUT_WAITING = -1;

    private final ShardContext context;
    private final Shard[] shards;
    private final MemoryReclaimer reclaimer;
    private final int classes;
    private volatile long chargedBytes;
    /** The state of an active controller; null if it is not active. */
    private volatile @Nullable Watched watched;
    /** By shard: the state to which it reports accesses. Guarded by its own monitor. */
    private final @Nullable Watched[] reportsTo;

    /** The results of the last slot: the number of slots, and the cycle of each class. Immutable. */
    private record Learnt(long slots, List<Cycle> byClass) {}

    /** The demand cycle of one class. Immutable. */
    private record Cycle(boolean periodic, long intervalSlots) {}

    /** The state of an active controller. Used only by maintenance, except the volatile and atomic fields. */
    private static final class Watched {
        private final DemandCycles cycles;
        private final ClassDemotion classDemotion;
        /** By shard; the shard's lock guards the contents. */
        private final ShardDemand[] demands;
        private final AtomicLongArray wakes;
        /** The largest share of each class since it woke. */
        private final double[] shares;
        /** By shard, at the last reading; and the sum over all shards when the last slot ended. */
        private final ClassCounts[] counts;
        private @Nullable ClassCounts before;
        private long slotStartNanos;
        /** Shares that this class has set, as opposed to the partitioning. */
        private double @Nullable [] lent;
        private volatile Learnt learnt;
        /** Bytes of items by shard and class, and the sums over all shards, which loading threads read. */
        private final long[][] bytesOf;
        private volatile long[] sums;
        private volatile boolean sumsRequested;
        private long summedNanos;

        private Watched(DemandCycles cycles, ClassDemotion classDemotion, ShardDemand[] demands) {
            this.cycles = cycles;
            this.classDemotion = classDemotion;
            this.demands = demands;
            counts = new ClassCounts[demands.length];
            wakes = new AtomicLongArray(cycles.classes());
            shares = new double[cycles.classes()];
            sums = new long[cycles.classes()];
            bytesOf = new long[demands.length][cycles.classes()];
            learnt = learntAfter(0);
        }

        /** The cycles of the classes after this many slots. */
        private Learnt learntAfter(long slots) {
            List<Cycle> byClass = new ArrayList<>(cycles.classes());
            for (int i = 0; i < cycles.classes(); i++) {
                PeriodicDemandDetector detector = cycles.of(i);
                byClass.add(new Cycle(detector.periodic(), detector.intervalSlots()));
            }
            return new Learnt(slots, byClass);
        }
    }

    public DemandController(ShardContext context, Shard[] shards, MemoryReclaimer reclaimer, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.reclaimer = reclaimer;
        classes = config.penalties().classes();
        reportsTo = new Watched[shards.length];
        reconfigure(config);
    }

    /**
     * Starts or stops watching, as configured; with other settings it starts over. Items in the secondary tier then
     * stay there until they are requested. Must be called after the components it depends on were reconfigured, and
     * when a secondary tier is present.
     */
    public void reconfigure(CacheConfig config) {
        DemandSettings wanted = config.tracksPenalties() && context.secondary() != null ? config.demand() : null;
        Watched present = watched;
        if (wanted == null) {
            watched = null;
            charge(0);
            boolean allConnected = connectShards(null, WITHOUT_WAITING);
            LOG.log(System.Logger.Level.DEBUG, "Demand is no longer watched; all shards disconnected at once: {0}",
                    allConnected);
            return;
        }
        if (present == null || !present.cycles.settings().equals(wanted)) {
            present = begin(wanted);
            watched = present;
        }
        long tables = Arrays.stream(present.demands).mapToLong(ShardDemand::bytes).sum();
        charge(Math.min(present.cycles.bytes() + tables, config.maxMemoryBytes() / LARGEST_PART));
        // Maintenance soon updates the others.
        boolean allConnected = connectShards(present, WITHOUT_WAITING);
        LOG.log(System.Logger.Level.DEBUG, "Demand is watched; all shards connected at once: {0}", allConnected);
    }

    private Watched begin(DemandSettings settings) {
        DemandCycles cycles = new DemandCycles(classes, settings);
        int keys = Math.clamp(KEYS / shards.length, MIN_KEYS, MAX_KEYS);
        ShardDemand[] demands = new ShardDemand[shards.length];
        Arrays.setAll(demands, _ -> new ShardDemand(cycles, keys));
        return new Watched(cycles, new ClassDemotion(context, shards, classes), demands);
    }

    private void charge(long bytes) {
        long more = bytes - chargedBytes;
        if (more > 0) {
            context.budget.charge(more);
        } else {
            context.budget.release(-more);
        }
        chargedBytes = bytes;
    }

    /** The part of maxmemory that watching takes. */
    public long bytes() {
        return chargedBytes;
    }

    // --- for maintenance

    /**
     * Ends a slot if it is over, and demotes some items if a class is being dumped.
     *
     * @return whether there is more to do at once
     */
    public boolean slice(Runnable pause) {
        Watched present = watched;
        if (!connectShards(present, Shard.DEFAULT_NAPS) || present == null) {
            return false;
        }
        int woken = present.cycles.takeWoken();
        for (int i = 0; woken != 0; i++, woken >>>= 1) {
            if ((woken & 1) != 0) {
                wake(present, i, pause);
            }
        }
        long now = context.ticker.nanoTime();
        if (present.sumsRequested && now - present.summedNanos >= SUM_NANOS) {
            sum(present, now, pause);
        }
        if (now - present.slotStartNanos >= slotNanos(present)) {
            endSlot(present, now, pause);
        }
        return present.classDemotion.slice(present.cycles::isDumped, pause);
    }

    /**
     * Makes all shards report their accesses to the present state. @return false if another thread holds one of them
     * for long
     */
    private boolean connectShards(@Nullable Watched present, int naps) {
        synchronized (reportsTo) {
            boolean all = true;
            for (int i = 0; i < shards.length; i++) {
                all &= isSame(reportsTo[i], present) || connect(i, present, naps);
            }
            if (all && present != null && present.before == null) {
                present.before = sum(present.counts);
                present.slotStartNanos = context.ticker.nanoTime();
            }
            return all;
        }
    }

    @SuppressWarnings("ReferenceEquality") // each state is distinct, even with equal settings
    private static boolean isSame(@Nullable Watched one, @Nullable Watched other) {
        return one == other;
    }

    private boolean connect(int shard, @Nullable Watched present, int naps) {
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
        reportsTo[shard] = present;
        return true;
    }

    private static long slotNanos(Watched present) {
        return TimeUnit.MILLISECONDS.toNanos(present.cycles.settings().slotMillis());
    }

    private void endSlot(Watched present, long now, Runnable pause) {
        // A slot ends late if maintenance has other work, or if the process was stopped; the rate is what counts.
        double late = (double) slotNanos(present) / (now - present.slotStartNanos);
        present.slotStartNanos = now;
        ReuseSample[] sample = new ReuseSample[classes];
        Arrays.fill(sample, ReuseSample.NONE);
        boolean[] requested = new boolean[shards.length];
        forEach(i -> {
            requested[i] = true;
            present.counts[i] = counts(shards[i]);
            present.demands[i].drainReuseSamples(sample);
        }, pause);
        ClassCounts counts = sum(present.counts);
        ClassCounts slot = counts.since(Objects.requireNonNull(present.before));
        present.before = counts;
        noteShares(present);
        present.classDemotion.endSlot();
        for (int i = 0; i < classes; i++) {
            Advice advice = present.cycles.endSlot(i, Math.round(Math.max(0, slot.accesses(i)) * late),
                    Math.round(Math.max(0, slot.reads(i)) * late), sample[i]);
            if (advice == Advice.DUMP) {
                present.classDemotion.begin(i);
            } else if (advice == Advice.LOAD) {
                wake(present, i, pause);
            }
            // Searching a long history takes long.
            pause.run();
        }
        forEach(i -> {
            if (requested[i]) {
                present.demands[i].endSlot();
            }
        }, pause);
        present.learnt = present.learntAfter(present.learnt.slots + 1);
    }

    /**
     * Runs the action under the lock of each shard, except those that another thread holds for long: their data count
     * in the next slot.
     */
    private void forEach(IntConsumer action, Runnable pause) {
        for (int i = 0; i < shards.length; i++) {
            if (shards[i].lockWithin(Shard.DEFAULT_NAPS, false)) {
                try {
                    action.accept(i);
                } finally {
                    shards[i].unlock();
                }
            }
            pause.run();
        }
    }

    private static ClassCounts counts(Shard shard) {
        ClassCounts counts = new ClassCounts(PenaltyRanges.MAX_CLASSES);
        shard.penalties().addTo(counts);
        return counts;
    }

    private static ClassCounts sum(ClassCounts[] counts) {
        ClassCounts sum = new ClassCounts(PenaltyRanges.MAX_CLASSES);
        for (ClassCounts own : counts) {
            own.addTo(sum);
        }
        return sum;
    }

    /** Records the shares of the classes that are awake. */
    private void noteShares(Watched present) {
        ClassShares classShares = context.classShares();
        double[] shares = classShares.shares();
        if (shares == null || Arrays.equals(shares, present.lent)) {
            return;
        }
        for (int i = 0; i < Math.min(classes, shares.length); i++) {
            if (!present.cycles.isDumped(i)) {
                present.shares[i] = Math.max(present.shares[i], ofGroup(i, shares, classShares.groups()));
            }
        }
    }

    private void wake(Watched present, int penaltyClass, Runnable pause) {
        present.wakes.incrementAndGet(penaltyClass);
        restoreShare(present, penaltyClass);
        SecondaryTier secondary = context.secondary();
        if (secondary != null) {
            sum(present, context.ticker.nanoTime(), pause);
            secondary.load(penaltyClass);
        }
    }

    /**
     * Restores a waking class's share from before its valley, until the next partitioning. A share from the valley is
     * too small for the peak: the loaded items would exceed it and be evicted first.
     */
    private void restoreShare(Watched present, int penaltyClass) {
        ClassShares classShares = context.classShares();
        double[] shares = classShares.shares();
        double before = present.shares[penaltyClass];
        present.shares[penaltyClass] = 0;
        if (shares == null || penaltyClass >= shares.length) {
            return;
        }
        int[] groups = classShares.groups();
        double presentShare = ofGroup(penaltyClass, shares, groups);
        if (before <= presentShare) {
            return;
        }
        double others = (1 - before) / (1 - presentShare);
        double[] changed = shares.clone();
        for (int i = 0; i < changed.length; i++) {
            changed[i] *= groups[i] != groups[penaltyClass] ? others : presentShare == 0 ? 0 : before / presentShare;
        }
        changed[penaltyClass] += presentShare == 0 ? before : 0;
        present.lent = changed;
        context.shares(changed);
        if (context.evictionPolicy() != EvictionPolicy.ALLKEYS_PENALTY) {
            // The policy has changed meanwhile.
            context.shares(null);
        }
    }

    // --- for other threads

    /** See {@link io.varve.memory.Cache#demand}. */
    public @Nullable DemandReport report() {
        Watched present = watched;
        if (present == null) {
            return null;
        }
        Learnt learnt = present.learnt;
        List<DemandReport.OfClass> reports = new ArrayList<>(classes);
        for (int i = 0; i < classes; i++) {
            reports.add(new DemandReport.OfClass(present.cycles.isDumped(i), learnt.byClass.get(i).periodic,
                    learnt.byClass.get(i).intervalSlots,
                    present.classDemotion.begun(i), present.classDemotion.abandoned(i), present.wakes.get(i),
                    present.classDemotion.items(i)));
        }
        return new DemandReport(learnt.slots, reports, present.classDemotion.isActive());
    }

    /** See {@link io.varve.memory.Cache#admitLoaded}. */
    public boolean admitLoaded(int penaltyClass, long bytes) {
        Watched present = watched;
        if (present == null || penaltyClass >= classes || present.cycles.isDumped(penaltyClass)) {
            return false;
        }
        return reclaimer.admitFree(bytes) || isUnderShare(present, penaltyClass) && reclaimer.admit(bytes);
    }

    private boolean isUnderShare(Watched present, int penaltyClass) {
        ClassShares classShares = context.classShares();
        double[] shares = classShares.shares();
        if (shares == null || penaltyClass >= shares.length) {
            return false;
        }
        present.sumsRequested = true;
        long[] sums = present.sums;
        int[] groups = classShares.groups();
        long taken = 0;
        for (int i = 0; i < Math.min(sums.length, shares.length); i++) {
            taken += groups[i] == groups[penaltyClass] ? sums[i] : 0;
        }
        return taken < ofGroup(penaltyClass, shares, groups) * LongStream.of(sums).sum();
    }

    /** The share of a class's group: only the group's total is enforced. */
    private static double ofGroup(int penaltyClass, double[] shares, int[] groups) {
        double sum = 0;
        for (int i = 0; i < shares.length; i++) {
            sum += groups[i] == groups[penaltyClass] ? shares[i] : 0;
        }
        return sum;
    }

    /** Sums the bytes of the items of each class; for a shard that is held for long, it uses the last reading. */
    private void sum(Watched present, long now, Runnable pause) {
        present.summedNanos = now;
        present.sumsRequested = false;
        forEach(i -> {
            for (int of = 0; of < classes; of++) {
                present.bytesOf[i][of] = shards[i].classBytes(of);
            }
        }, pause);
        long[] sums = new long[classes];
        for (long[] own : present.bytesOf) {
            for (int of = 0; of < classes; of++) {
                sums[of] += own[of];
            }
        }
        present.sums = sums;
    }
}
