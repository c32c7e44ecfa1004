package io.varve.memory.shard.context;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.eviction.PinnedItems;
import io.varve.memory.eviction.PinnedKeys;
import io.varve.memory.hotkeys.HotKeys;
import io.varve.memory.index.KeyHash;
import io.varve.memory.index.TagScanner;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.item.Ticker;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import io.varve.memory.segment.CleanerPolicy;
import io.varve.memory.segment.SegmentPool;
import org.jspecify.annotations.Nullable;

/**
 * The state that all shards of a cache share. Thread-safe: each part is thread-safe or documents its guard; the
 * volatile fields are read without a lock and replaced under the monitor of this object.
 */
public final class ShardContext {
    private static final ChangeListener[] NO_LISTENERS = {};

    public final Regions regions;
    public final MemoryBudget budget;
    public final SegmentPool pool;
    public final KeyHash keyHash;
    /** A separate hash for collection elements, because clients see these hashes as cursors. */
    public final KeyHash elementHash;
    public final TagScanner scanner;
    public final Databases databases;
    public final Ticker ticker;
    /** Items from this size on live in a run of their own, bytes. */
    public final int largeThresholdBytes;
    /** The keys that eviction must not remove. */
    public final PinnedKeys pins = new PinnedKeys();
    /** The count of the items that are pinned until they are unpinned. */
    public final PinnedItems pinnedItems = new PinnedItems(Databases.PHYSICAL);

    /** Bytes that writes were refused; the next thread that frees memory clears it. */
    public final AtomicLong refusedBytes = new AtomicLong();
    /** The size of a larger index table, which can wait until that much memory is uncharged; 0 if none is needed. */
    public final AtomicLong deferredBytes = new AtomicLong();

    private final int shards;
    /** One of each session that reads without a lock; they are as many as the event loops. */
    private final List<LookupCounters> lookups = new CopyOnWriteArrayList<>();
    private volatile long hitsAtReset;
    private volatile long missesAtReset;

    /** The settings that may change at run time. A reader of several settings reads the record once. */
    private volatile ShardSettings settings;
    /** Separate from the settings, because every change of a key reads it, and connections subscribe at any time. */
    private volatile ChangeListener[] listeners = NO_LISTENERS;
    private volatile boolean hearsMisses;
    /** The shares of the penalty classes. Separate from the settings, because maintenance computes them. */
    private volatile ClassShares classShares = ClassShares.NONE;
    /** In a replica, the thread that runs the primary's commands; null if this cache removes what has expired. */
    private volatile @Nullable Thread follower;
    private volatile boolean keepsExpired;
    /** The cost of a miss by class. Separate from the settings, because maintenance measures it. Never modified. */
    private volatile double @Nullable [] missMicros;
    /** Null if reads are not sampled for the most read keys. A session looks once for each batch. */
    private volatile @Nullable HotKeys hotKeys;

    /** @param shards the number of shards */
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
        settings = new ShardSettings(evictionPolicy, evictionSamples, cleanerPolicy, 0, evictionPolicy, null, null,
                null, null, PenaltyRanges.MAX_CLASSES);
    }

    /** See {@link io.varve.memory.Cache#follow}. */
    public void follower(@Nullable Thread thread) {
        follower = thread;
    }

    /** See {@link io.varve.memory.Cache#keepExpired}. */
    public void keepExpired(boolean keep) {
        keepsExpired = keep;
    }

    /** Whether this cache removes items that have expired; if not, it keeps them until a command removes them. */
    public boolean removesExpired() {
        return follower == null && !keepsExpired;
    }

    /** Whether items that have expired exist for the calling thread. */
    public boolean findsExpired() {
        Thread thread = follower;
        return thread != null && thread.equals(Thread.currentThread());
    }

    /** The number of shards. */
    public int shards() {
        return shards;
    }

    /** The part of the limit that a shard may hold, in bytes. */
    public long shardBytes() {
        return budget.limitBytes() / shards;
    }

    /** Takes the bytes that writes were refused since the last call. */
    public long takeRefusedBytes() {
        return refusedBytes.get() == 0 ? 0 : refusedBytes.getAndSet(0);
    }

    // --- lookups without a lock

    /** Creates the counters of a session. */
    public LookupCounters newLookupCounters() {
        LookupCounters counters = new LookupCounters();
        lookups.add(counters);
        return counters;
    }

    /** Number of sessions that read without a lock. */
    public int lookupCounters() {
        return lookups.size();
    }

    /** The hits of all sessions' reads without a lock since {@link #resetLookups}. */
    public long hits() {
        return Math.max(0, allHits() - hitsAtReset);
    }

    /** Their misses. */
    public long misses() {
        return Math.max(0, allMisses() - missesAtReset);
    }

    /** Counts hits and misses from 0 on. */
    public void resetLookups() {
        hitsAtReset = allHits();
        missesAtReset = allMisses();
    }

    private long allHits() {
        return lookups.stream().mapToLong(LookupCounters::hits).sum();
    }

    private long allMisses() {
        return lookups.stream().mapToLong(LookupCounters::misses).sum();
    }

    // --- settings

    public ShardSettings settings() {
        return settings;
    }

    /** Changes the policies. */
    public synchronized void policies(EvictionPolicy eviction, int samples, CleanerPolicy cleaner) {
        settings = settings.withPolicies(eviction, samples, cleaner, ticker.wallMillis());
    }

    public EvictionPolicy evictionPolicy() {
        return settings.evictionPolicy();
    }

    /** Sets the tier to which evicted items are demoted. */
    public synchronized void secondary(SecondaryTier tier) {
        settings = settings.withSecondary(tier);
    }

    public @Nullable SecondaryTier secondary() {
        return settings.secondary();
    }

    /** Sets the recorder of accesses; a session uses it from its next batch. Null stops recording. */
    public synchronized void recorder(@Nullable AccessRecorder wanted) {
        settings = settings.withRecorder(wanted);
    }

    public @Nullable AccessRecorder recorder() {
        return settings.recorder();
    }

    /**
     * Sets the penalty tracking, or null to stop it. A shard adopts it when it is told to
     * {@linkplain io.varve.memory.shard.learning.ShardPenalties#settle settle}.
     */
    public synchronized void tracking(@Nullable PenaltyTracking wanted) {
        settings = settings.withTracking(wanted);
    }

    public @Nullable PenaltyTracking tracking() {
        return settings.tracking();
    }

    /** Sets the number of penalty classes. */
    public synchronized void classes(int number) {
        settings = settings.withClasses(number);
    }

    // --- what maintenance learns

    public ClassShares classShares() {
        return classShares;
    }

    /**
     * Sets the shares of the classes; their groups stay.
     *
     * @param shares must not be changed later; null if memory is not partitioned
     */
    public synchronized void shares(double @Nullable [] shares) {
        classShares = new ClassShares(shares, classShares.groups());
    }

    /**
     * Sets the shares of the classes, in groups of which only the sums are enforced.
     *
     * @param shares must not be changed later
     * @param groups by class, the first of its group; must not be changed later
     */
    public synchronized void shares(double[] shares, int[] groups) {
        classShares = new ClassShares(shares, groups);
    }

    /** The shares of the classes. Callers must not change the array. */
    public double @Nullable [] shares() {
        return classShares.shares();
    }

    /**
     * Sets the cost of a miss in each class.
     *
     * @param measured in µs, must not be changed later; null if unknown
     */
    public void missMicros(double @Nullable [] measured) {
        missMicros = measured;
    }

    /** The cost of a miss in each class, µs; null if penalties are not tracked or nothing was measured. */
    public double @Nullable [] missMicros() {
        return missMicros;
    }

    /** Begins or ends the search for the most read keys. */
    public synchronized void findHotKeys(boolean wanted) {
        if (wanted != (hotKeys != null)) {
            hotKeys = wanted ? new HotKeys(ticker::nanoTime) : null;
        }
    }

    /** The most read keys; null if nobody looks for them. */
    public @Nullable HotKeys hotKeys() {
        return hotKeys;
    }

    // --- listeners

    public synchronized void subscribe(ChangeListener listener) {
        ChangeListener[] more = Arrays.copyOf(listeners, listeners.length + 1);
        more[listeners.length] = listener;
        listeners = more;
        hearsMisses |= listener.hearsMisses();
    }

    public synchronized void unsubscribe(ChangeListener listener) {
        listeners = Arrays.stream(listeners).filter(other -> !other.equals(listener)).toArray(ChangeListener[]::new);
        hearsMisses = Arrays.stream(listeners).anyMatch(ChangeListener::hearsMisses);
    }

    /** Whether any listener wants to hear of reads of missing keys. */
    public boolean hearsMisses() {
        return hearsMisses;
    }

    /** The listeners of changes. Callers must not change the array. */
    public ChangeListener[] listeners() {
        return listeners;
    }

    /** Notifies listeners that a logical database is empty. The caller holds the locks of all shards. */
    public void notifyFlushed(int database) {
        for (ChangeListener listener : listeners) {
            listener.flushed(database);
        }
    }

    /** Notifies listeners that the secondary tier has lost its items. Called under the locks of all shards. */
    public void notifyLost(int database) {
        for (ChangeListener listener : listeners) {
            listener.lost(database);
        }
    }

    /** Notifies listeners that two logical databases were exchanged. The caller holds the locks of all shards. */
    public void notifySwapped(int first, int second, ChangeListener.Presence presence) {
        for (ChangeListener listener : listeners) {
            listener.swapped(first, second, presence);
        }
    }
}
