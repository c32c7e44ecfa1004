package io.varve.memory;

import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.Sampling;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import io.varve.memory.shard.ShardTotals;
import org.jspecify.annotations.Nullable;

/**
 * Has accesses recorded, and tells the curve that follows from them. Many threads: the recorder guards itself; settings are changed by one thread at a time;
 * {@link #slice} is maintenance's.
 *
 * <p>Window by window what is old counts less, so that the curve is that of the last ten or so. Keys that come back so late that neither a memory twice as large as this one, nor all of this one for
 * their class alone, would hold them are given up: they would fill the recorder's table, and nobody can ask for what they would tell.
 */
final class CurveLearning {
    private static final double KEPT = 0.9;
    /** The largest memory that matters, over the present one. */
    private static final double LARGEST = 2;
    /** For so many times as long as an item stays there, keys are followed. */
    private static final double PATIENCE = 1.25;
    /** A class would fill all of the memory after so many times as long as others stay in twice of it, at the most: what is slower, or has ended, is given up all the same. */
    private static final long SLOWEST = 8;

    /** Of a small maxmemory so much is charged for recording at the most. */
    private static final int LARGEST_PART = 16;

    private final ShardContext context;
    private final Shard[] shards;
    private final PenaltyLearning penalties;
    private final long seed;
    private volatile long windowAccesses = CurveSettings.USUAL_WINDOW;
    /** Changed by {@link #charge} alone. */
    private volatile long chargedBytes;
    /** The recorder whose window it is, and the accesses before it; maintenance's. */
    private @Nullable AccessRecorder followed;
    private long windowStart;

    CurveLearning(ShardContext context, Shard[] shards, PenaltyLearning penalties, CacheConfig config) {
        this.context = context;
        this.shards = shards;
        this.penalties = penalties;
        seed = config.hashSeed();
        reconfigure(config);
    }

    /**
     * Begins or ends recording, as it is asked for; anew where items have classes from now on, or have none any more, or where maxmemory is
     * another by so much that the table should be twice as large, or half.
     *
     * <p>What it takes is charged without asking: it is a 256th of maxmemory or so, 4.3 MB at the most. With sixteen classes in use it takes two thirds of a megabyte even of a small maxmemory, which is to
     * be the items': what is more than a sixteenth of it counts among what a server takes beside maxmemory.
     */
    void reconfigure(CacheConfig config) {
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

    /** Histograms come with the classes that are drawn first, and grow with reuse times: what they take is charged after the window, at the latest. */
    private synchronized void charge() {
        AccessRecorder recorder = context.recorder();
        long bytes = recorder == null
                ? 0
                : Math.min(recorder.bytes(), context.budget().limitBytes() / LARGEST_PART);
        long more = bytes - chargedBytes;
        if (more > 0) {
            context.budget().charge(more);
        } else {
            context.budget().release(-more);
        }
        chargedBytes = bytes;
    }

    /** What recording takes of maxmemory. */
    long bytes() {
        return chargedBytes;
    }

    /** Ends a window if it is over. */
    void slice(Runnable giveWay) {
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
            endWindow(recorder, giveWay);
        }
    }

    private void endWindow(AccessRecorder recorder, Runnable giveWay) {
        charge();
        long nowMillis = context.ticker().wallMillis();
        Costs costs = costs();
        penalties.endPeriod(recorder, costs.itemBytes(context.budget().limitBytes()), giveWay);
        recorder.giveUp(patience(recorder, costs, nowMillis, giveWay), giveWay);
        recorder.forget(KEPT, nowMillis, giveWay);
        // What is waited for has its histograms, too.
        charge();
    }

    /** For how many accesses a key of each class is followed. */
    private long[] patience(AccessRecorder recorder, Costs costs, long nowMillis, Runnable giveWay) {
        double memory = context.budget().limitBytes();
        long shared = recorder.evictionTime(costs.itemBytes(LARGEST * memory), nowMillis);
        giveWay.run();
        // A class may be given all of the memory: what it would do with that is to be known then.
        long[] patience = recorder.evictionTimes(costs.itemBytes(memory), nowMillis, giveWay);
        for (int i = 0; i < patience.length; i++) {
            patience[i] = shared == Long.MAX_VALUE
                    ? shared
                    : Math.max(windowAccesses, (long) (PATIENCE * Math.clamp(patience[i], shared, SLOWEST * shared)));
        }
        return patience;
    }

    /** See {@link Cache#curve(int)}. */
    @Nullable
    MemoryCurve curve(int itemClass) {
        AccessRecorder recorder = context.recorder();
        if (recorder == null || itemClass >= recorder.classes()) {
            // Its classes may be fewer than they are going to be in a moment.
            return null;
        }
        Costs costs = costs();
        long nowMillis = context.ticker().wallMillis();
        return new MemoryCurve(
                itemClass == Cache.ALL_CLASSES ? recorder.curve(nowMillis) : recorder.curve(itemClass, nowMillis),
                costs.fixedBytes(), costs.bytesPerItemByte(), recorder.accesses(), recorder.reads(), recorder.rate(),
                recorder.followedKeys(), recorder.bytes());
    }

    /** What items cost beside what is recorded of them. Immutable. */
    private record Costs(double fixedBytes, double bytesPerItemByte) {
        /** What items can have of so much maxmemory, in bytes of the curves. */
        double itemBytes(double maxMemoryBytes) {
            return Math.max(0, maxMemoryBytes - fixedBytes) / bytesPerItemByte;
        }
    }

    private Costs costs() {
        ShardTotals totals = ShardTotals.of(shards, context.databases());
        double taken = totals.takenBytes();
        double usual = totals.usualBytes();
        double others = Math.max(chargedBytes,
                context.budget().chargedBytes() - context.pool().freeBytes() - taken);
        return new Costs(others + context.budget().reserveBytes(), usual <= 0 ? 1 : Math.max(1, taken / usual));
    }
}
