package io.varve.memory.learning;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.curve.Sampling;
import io.varve.memory.report.MemoryCurve;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardTotals;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Records accesses and computes the miss-ratio curve from them. Thread-safe: the recorder guards itself; one thread at
 * a time changes settings; only the maintenance thread calls {@link #slice}.
 *
 * <p>At the end of each window the older samples lose weight, so the curve covers about the last ten windows. Recording
 * drops keys whose reuse time is too long: neither twice this memory, nor all of it given to their class alone, would
 * hold them until then. They would fill the recorder's table without useful data.
 */
public final class CurveLearning {
    private static final double KEPT = 0.9;
    /** The largest memory of interest, as a multiple of the present one. */
    private static final double MEMORY_FACTOR = 2;
    /** Keys are followed for this many times an item's stay in that memory. */
    private static final double FOLLOWED_STAYS = 1.25;
    /**
     * The longest time that a class's keys are followed, as a multiple of the stay of other items in twice this memory.
     * Recording drops a class that needs longer to fill all of this memory, or has no more accesses.
     */
    private static final long MAX_STAYS = 8;

    /** With a small maxmemory, at most this part of it is charged for recording. */
    private static final int LARGEST_PART = 16;

    private final ShardContext context;
    private final Shard[] shards;
    private final PenaltyLearning penalties;
    private final long seed;
    private volatile long windowAccesses = CurveSettings.USUAL_WINDOW;
    /** Written only by {@link #charge}. */
    private volatile long chargedBytes;
    /** The recorder that the window belongs to, and the accesses before the window; used only by maintenance. */
    private @Nullable AccessRecorder followed;
    private long windowStart;

    public CurveLearning(ShardContext context, Shard[] shards, PenaltyLearning penalties, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.penalties = penalties;
        seed = config.hashSeed();
        reconfigure(config);
    }

    /**
     * Starts or stops recording, as configured. It restarts if penalty tracking was switched on or off. It also
     * restarts if maxmemory has changed so much that the table should be twice or half as large.
     *
     * <p>Its memory is charged without asking the budget: about a 256th of maxmemory, at most 4.3 MB. With sixteen
     * classes in use it takes two thirds of a megabyte even of a small maxmemory, which should go to items. The part
     * above a sixteenth of maxmemory therefore counts as server memory outside maxmemory.
     */
    public void reconfigure(CacheConfig config) {
        windowAccesses = config.curves().windowAccesses();
        AccessRecorder recorder = context.recorder();
        Sampling sampling = AccessRecorder.samplingFor(config.maxMemoryBytes());
        if (!config.recordsAccesses()) {
            recorder = null;
        } else if (recorder == null || recorder.classes() != penalties.classes()
                || !recorder.isAboutAsLargeAs(sampling)) {
            recorder = new AccessRecorder(penalties.classes(), sampling, seed);
        }
        context.recorder(recorder);
        charge();
    }

    /**
     * Histograms are created with the first sample of a class and grow with reuse times; their memory is charged after
     * the window at the latest.
     */
    private synchronized void charge() {
        AccessRecorder recorder = context.recorder();
        long bytes = recorder == null
                ? 0
                : Math.min(recorder.bytes(), context.budget.limitBytes() / LARGEST_PART);
        long more = bytes - chargedBytes;
        if (more > 0) {
            context.budget.charge(more);
        } else {
            context.budget.release(-more);
        }
        chargedBytes = bytes;
    }

    /** The part of maxmemory that recording takes. */
    public long bytes() {
        return chargedBytes;
    }

    /** Ends the window if it is over. */
    public void slice(Runnable pause) {
        AccessRecorder recorder = context.recorder();
        if (recorder == null) {
            followed = null;
            return;
        }
        long accesses = recorder.accesses();
        if (!recorder.equals(followed)) {
            followed = recorder;
            windowStart = accesses;
        }
        if (accesses - windowStart >= windowAccesses) {
            windowStart = accesses;
            endWindow(recorder, pause);
        }
    }

    private void endWindow(AccessRecorder recorder, Runnable pause) {
        charge();
        long nowMillis = context.ticker.wallMillis();
        Costs costs = costs();
        penalties.endPeriod(recorder, costs.itemBytes(context.budget.limitBytes()), pause);
        recorder.stopFollowingOlder(followLimits(recorder, costs, nowMillis, pause), pause);
        recorder.forget(KEPT, nowMillis, pause);
        // Pending samples have created histograms too.
        charge();
    }

    /** The number of accesses for which a key of each class is followed. */
    private long[] followLimits(AccessRecorder recorder, Costs costs, long nowMillis, Runnable pause) {
        double memory = context.budget.limitBytes();
        long shared = recorder.evictionTime(costs.itemBytes(MEMORY_FACTOR * memory), nowMillis);
        pause.run();
        // A class may get all of the memory; its miss ratio there must then be known.
        long[] followLimits = recorder.evictionTimes(costs.itemBytes(memory), nowMillis, pause);
        for (int i = 0; i < followLimits.length; i++) {
            followLimits[i] = shared == Long.MAX_VALUE
                    ? shared
                    : Math.max(windowAccesses,
                            (long) (FOLLOWED_STAYS * Math.clamp(followLimits[i], shared, MAX_STAYS * shared)));
        }
        return followLimits;
    }

    /** See {@link io.varve.memory.Cache#curve(int)}. */
    public @Nullable MemoryCurve curve(int itemClass) {
        AccessRecorder recorder = context.recorder();
        if (recorder == null || itemClass >= recorder.classes()) {
            // The number of its classes is about to change.
            return null;
        }
        Costs costs = costs();
        long nowMillis = context.ticker.wallMillis();
        return new MemoryCurve(
                itemClass == MemoryCurve.ALL_CLASSES ? recorder.curve(nowMillis) : recorder.curve(itemClass, nowMillis),
                costs.fixedBytes(), costs.bytesPerItemByte(), recorder.accesses(), recorder.reads(), recorder.rate(),
                recorder.followedKeys(), recorder.bytes());
    }

    /** The memory that items take beyond their recorded bytes. Immutable. */
    private record Costs(double fixedBytes, double bytesPerItemByte) {
        /** The bytes of items, as the curves count them, that fit in this maxmemory. */
        double itemBytes(double maxMemoryBytes) {
            return Math.max(0, maxMemoryBytes - fixedBytes) / bytesPerItemByte;
        }
    }

    private Costs costs() {
        ShardTotals totals = ShardTotals.of(shards, context.databases);
        double taken = totals.occupiedBytes();
        double usual = totals.usualBytes();
        double others = Math.max(chargedBytes,
                context.budget.chargedBytes() - context.pool.freeBytes() - taken);
        return new Costs(others + context.budget.reserveBytes(), usual <= 0 ? 1 : Math.max(1, taken / usual));
    }
}
