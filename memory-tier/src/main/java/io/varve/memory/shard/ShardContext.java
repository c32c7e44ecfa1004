package io.varve.memory.shard;

import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.varve.memory.eviction.AccessTranslation;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.PinnedKeys;
import io.varve.memory.index.KeyHash;
import io.varve.memory.index.TagScanner;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.LowerTier;
import io.varve.memory.item.Ticker;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import io.varve.memory.segment.CleanerPolicy;
import io.varve.memory.segment.SegmentPool;
import org.jspecify.annotations.Nullable;

/**
 * What all shards of a cache share. Many threads: the parts are thread-safe, or say who guards them; the settings are
 * volatile, written by one thread at a time.
 */
public final class ShardContext {
    private static final ChangeListener[] NOBODY = {};

    final Regions regions;
    final MemoryBudget budget;
    final SegmentPool pool;
    final KeyHash keyHash;
    /** For what collections have: clients are told of such hashes, as cursors. */
    final KeyHash elementHash;
    final TagScanner scanner;
    final Databases databases;
    final Ticker ticker;
    /** Item sizes from here on live in a run of their own, bytes. */
    final int largeThresholdBytes;
    private final int shards;

    /** Bytes that some write wanted and did not get; whoever makes room next clears it. */
    final AtomicLong refusedBytes = new AtomicLong();
    final AtomicLong deferredBytes = new AtomicLong();
    /** The keys that eviction spares. */
    final PinnedKeys pins = new PinnedKeys();

    volatile EvictionPolicy evictionPolicy;
    /** How often the policy has become one that {@linkplain EvictionPolicy#countsSinceArrival counts since arrival}... */
    volatile int residenceEras;
    /** ... and which it was before. */
    volatile EvictionPolicy beforeResidence;
    /** What access bits mean that were written before the policy changed; null if all are of the present one. */
    volatile @Nullable AccessTranslation translation;
    volatile int evictionSamples;
    volatile CleanerPolicy cleanerPolicy;
    volatile ChangeListener[] listeners = NOBODY;
    /** Where evicted items fall to. */
    volatile @Nullable LowerTier lower;
    /** Whom accesses are told; null if they are not recorded. */
    volatile @Nullable AccessRecorder recorder;

    /** How penalties are tracked; null if they are not. */
    volatile @Nullable PenaltyTracking tracking;
    /** How many classes of penalty there are, be they tracked or not. */
    volatile int classes = PenaltyRanges.MOST;
    /** Of what all items have, what those of each class may have, 0 to 1; null before memory was divided. Not changed any more. */
    volatile double @Nullable [] shares;
    /** By class, the first of the group with which it has its share; before memory was divided each is alone. Not changed any more. */
    volatile int[] groups = IntStream.range(0, PenaltyRanges.MOST).toArray();

    /** What a miss costs in each class, µs; null if penalties are not tracked, or nothing was measured. */
    volatile double @Nullable [] missMicros;

    /** @param shards how many there are */
    public ShardContext(Regions regions, MemoryBudget budget, SegmentPool pool, KeyHash keyHash,
            TagScanner scanner, Databases databases, Ticker ticker, int largeThresholdBytes,
            EvictionPolicy evictionPolicy, int evictionSamples, CleanerPolicy cleanerPolicy, int shards) {
        this.shards = shards;
        this.regions = regions;
        this.budget = budget;
        this.pool = pool;
        this.keyHash = keyHash;
        elementHash = keyHash.another();
        this.scanner = scanner;
        this.databases = databases;
        this.ticker = ticker;
        this.largeThresholdBytes = largeThresholdBytes;
        this.evictionPolicy = evictionPolicy;
        beforeResidence = evictionPolicy;
        this.evictionSamples = evictionSamples;
        this.cleanerPolicy = cleanerPolicy;
    }

    /** By one thread at a time. */
    // Only that one thread changes it.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    public void policies(EvictionPolicy eviction, int samples, CleanerPolicy cleaner) {
        EvictionPolicy before = evictionPolicy;
        if (eviction.countsSinceArrival() && !before.countsSinceArrival()) {
            beforeResidence = before;
            residenceEras++;
        }
        if (eviction != before) {
            translation = AccessTranslation.after(translation, before, eviction, ticker.wallMillis());
        }
        evictionPolicy = eviction;
        evictionSamples = samples;
        cleanerPolicy = cleaner;
    }

    /** Bytes that a shard may hold: its part of the limit. */
    long shardBytes() {
        return budget.limitBytes() / shards;
    }

    public PinnedKeys pins() {
        return pins;
    }

    public synchronized void subscribe(ChangeListener listener) {
        ChangeListener[] more = java.util.Arrays.copyOf(listeners, listeners.length + 1);
        more[listeners.length] = listener;
        listeners = more;
    }

    public synchronized void unsubscribe(ChangeListener listener) {
        listeners = java.util.Arrays.stream(listeners).filter(other -> !other.equals(listener))
                .toArray(ChangeListener[]::new);
    }

    /** Tells that a logical database is empty. The caller holds the locks of all shards. */
    public void tellFlushed(int database) {
        for (ChangeListener listener : listeners) {
            listener.flushed(database);
        }
    }

    /** Tells that two logical databases have been exchanged. The caller holds the locks of all shards. */
    public void tellSwapped(int first, int second, ChangeListener.Presence presence) {
        for (ChangeListener listener : listeners) {
            listener.swapped(first, second, presence);
        }
    }

    public void lower(LowerTier tier) {
        lower = tier;
    }

    public @Nullable LowerTier lower() {
        return lower;
    }

    /** Tells accesses from now on: of a session, from its next batch; null: nobody. */
    public void recorder(@Nullable AccessRecorder told) {
        recorder = told;
    }

    public @Nullable AccessRecorder recorder() {
        return recorder;
    }

    /** There are so many classes of penalty. */
    public void classes(int number) {
        classes = number;
    }

    /** Has penalties tracked from now on, or not: by each shard from when it is asked to {@linkplain ShardPenalties#settle settle}. */
    public void tracking(@Nullable PenaltyTracking wanted) {
        tracking = wanted;
    }

    public @Nullable PenaltyTracking tracking() {
        return tracking;
    }

    /**
     * The classes have these shares from now on.
     *
     * @param divided not changed any more; null: nothing is divided
     */
    public void shares(double @Nullable [] divided) {
        shares = divided;
    }

    /**
     * The classes have these shares from now on, in groups that are held to what they have together.
     *
     * @param divided not changed any more
     * @param first   by class, the first of its group; not changed any more
     */
    public void shares(double[] divided, int[] first) {
        groups = first;
        shares = divided;
    }

    /** By class, the first of the group with which it has its share. Not to be changed. */
    public int[] groups() {
        return groups;
    }

    public double @Nullable [] shares() {
        return shares;
    }

    /**
     * What a miss costs in each class.
     *
     * @param measured µs, not changed any more; null: nobody knows
     */
    public void missMicros(double @Nullable [] measured) {
        missMicros = measured;
    }

    public double @Nullable [] missMicros() {
        return missMicros;
    }

    /** Takes the bytes that writes wanted in vain since the last call. */
    public long takeRefusedBytes() {
        return refusedBytes.get() == 0 ? 0 : refusedBytes.getAndSet(0);
    }

    public Regions regions() {
        return regions;
    }

    public MemoryBudget budget() {
        return budget;
    }

    public SegmentPool pool() {
        return pool;
    }

    public KeyHash keyHash() {
        return keyHash;
    }

    public Databases databases() {
        return databases;
    }

    public Ticker ticker() {
        return ticker;
    }

    public int largeThresholdBytes() {
        return largeThresholdBytes;
    }

    public EvictionPolicy evictionPolicy() {
        return evictionPolicy;
    }

    /** What a larger index table needs, which can wait until so much is uncharged; 0 if none is needed. */
    public AtomicLong deferredBytes() {
        return deferredBytes;
    }

    public AtomicLong refusedBytes() {
        return refusedBytes;
    }
}
