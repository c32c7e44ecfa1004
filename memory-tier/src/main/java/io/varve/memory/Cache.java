package io.varve.memory;

import java.util.List;
import java.util.function.LongUnaryOperator;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.hotkeys.HotKeys;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.item.ValueRun;
import io.varve.memory.report.CacheStats;
import io.varve.memory.report.DemandReport;
import io.varve.memory.report.Epochs;
import io.varve.memory.report.MemoryCurve;
import io.varve.memory.report.PenaltyReport;
import org.jspecify.annotations.Nullable;

/**
 * The memory tier: an off-heap store of typed items by key, in numbered databases, with expiry and eviction.
 * Thread-safe; each thread uses a {@link CacheSession} of its own.
 *
 * <p>The key space is divided into shards, each guarded by its own lock. One thread calls {@link #maintain} repeatedly
 * for maintenance: expiry, cleaning, rehashing and freeing. Maintenance holds a shard's lock for at most 200 µs at a
 * time.
 */
public interface Cache extends AutoCloseable {
    /**
     * Reserves the memory and opens an empty cache. It starts no thread: see {@link #maintain}.
     *
     * @throws IllegalArgumentException if a setting is invalid; the message states the allowed values
     * @throws OutOfMemoryError if the system refuses the address space
     */
    static Cache open(CacheConfig config) {
        return open(config, 0);
    }

    /**
     * Opens an empty cache with address space for a larger maxmemory.
     *
     * @param maxBytes the highest maxmemory that {@link #reconfigure} may set later; at least twice the configured
     *     maxmemory, and at least 1 GiB, are possible in any case
     */
    static Cache open(CacheConfig config, long maxBytes) {
        return InMemoryCache.open(config, maxBytes);
    }

    /** Opens a session for one thread. */
    CacheSession newSession();

    int shardCount();

    int databaseCount();

    /** The number of items of a logical database, as DBSIZE counts them: expired but unreclaimed ones included. */
    long size(int database);

    /**
     * The number of items of a logical database in memory and in the secondary tier, counted atomically: no item moves
     * between the tiers during the count.
     *
     * @param onSecondary maps an epoch to the number of its items in the secondary tier; called under the locks of all
     *     shards
     */
    long size(int database, LongUnaryOperator onSecondary);

    /** The number of items of a logical database that have an expiry time. */
    long expiringSize(int database);

    /**
     * Prepares one shard for keys to come, so that its index need not grow step by step. A hint: nothing happens if the
     * indexes of all shards would then take more than a quarter of the free memory. The index does not shrink before
     * {@link #expectNoKeys}.
     *
     * @param keys of this shard
     */
    void expectKeys(int database, int shard, long keys);

    /** No more keys are expected: indexes that are too large may shrink. */
    void expectNoKeys();

    /**
     * Begins a scan of all items as they are at this moment, in memory and in the secondary tier, for a snapshot.
     *
     * @throws IllegalStateException if another scan is open
     */
    PointInTimeScan scanAtOneMoment(ItemCapture target);

    /** Empties one logical database at once; {@link #maintain} frees the memory in slices. */
    void flush(int database);

    /** Empties all databases atomically, in ascending order: each begins a new epoch. */
    void flushAll();

    /** Exchanges two logical databases atomically. */
    void swap(int first, int second);

    /**
     * Reserves memory for a command that may add up to {@code bytes}, evicting if the policy allows. Called without
     * locks, before a command that may use memory. After {@code true}, writes of that size do not fail.
     *
     * @return false if the policy can evict nothing more: the command must fail with the OOM error
     */
    boolean admit(long bytes);

    /**
     * As {@link #admit(long)}, for a command whose keys are {@linkplain CacheSession#pin pinned}. If the bytes cannot
     * fit beside the items of these keys, nothing is evicted.
     *
     * @param pinnedBytes bytes of the pinned keys' items
     */
    boolean admit(long bytes, long pinnedBytes);

    /**
     * As {@link #admit(long)}, for a caller that holds shards, as a script does between its commands. No item may be in
     * use. It waits only briefly for shards of other threads, so it may find less memory than {@link #admit(long)}
     * would.
     */
    boolean admitUnderLocks(long bytes);

    /**
     * Cleans, demotes and evicts, as far as the policy and the secondary tier allow, until items and their structures
     * take at most this many bytes. Called without locks.
     *
     * @return false if they take more, and nothing more can be gained
     */
    boolean reclaimTo(long usedBytes);

    /** Whether {@link #admit} would succeed at once, as far as that can be known without a lock. */
    boolean hasFreeMemory(long bytes);

    /**
     * The bytes of maxmemory that an item takes. They exceed its length, because a run takes whole pages and the end of
     * a segment stays unused.
     *
     * @param itemBytes the item's length with header and key, at least 1
     */
    long footprintBytes(long itemBytes);

    /**
     * A run of memory for a large value that has not arrived yet, charged to maxmemory. The caller fills it and passes
     * it to {@link CacheSession#putRun}, or releases it.
     *
     * @param headroom the most bytes that the item's header and key will need before the value: see
     *     {@link CacheSession#headroom}
     * @param length bytes of the value
     * @return null if maxmemory does not allow it
     */
    @org.jspecify.annotations.Nullable
    ValueRun newRun(int headroom, int length);

    /**
     * Memory for a connection's data beyond its ordinary buffers, charged to maxmemory. The call evicts nothing, so the
     * caller may hold a shard's lock. After a refusal, the caller must call {@link #admit} without locks before it
     * retries.
     *
     * @return a run with one holder, the caller; null if maxmemory does not allow it
     */
    @org.jspecify.annotations.Nullable
    ValueRun newBuffer(int bytes);

    /** The minimum length, in bytes, of a value that is stored in a run of its own. */
    int runThresholdBytes();

    /**
     * Runs one slice of maintenance over all shards: expiry when its cycle is due, cleaning, rehash, freeing. Called by
     * one thread at a time.
     *
     * @param pause called without a lock after each critical section that did work, so that waiting commands can run
     *     first
     * @return nanoseconds until the next call is useful; 0 if there is more to do at once
     */
    long maintain(Runnable pause);

    /** Runs one slice of maintenance without pauses: for callers without concurrent commands. */
    default long maintain() {
        return maintain(() -> {});
    }

    /**
     * Makes the next {@link #maintain} return all memory that is then free to the system, however recently it was
     * freed. Returns at once.
     */
    void returnFreeMemorySoon();

    /**
     * Counts the items that have expired and are not reclaimed. The scan takes each shard's lock slice by slice. For
     * tests and measurements; {@link CacheStats#expiredUnreclaimed} needs no scan.
     */
    long countExpiredUnreclaimed();

    /**
     * The sums of the shards' counters. It locks the shards one after the other, for some hundred nanoseconds each, and
     * reads no items. Figures that need a scan come from the last scan by {@link #maintain}. That scan is at most about
     * a second old, unless very many items have expired.
     */
    CacheStats stats();

    void resetStats();

    /**
     * The share of reads that would miss with another maxmemory, learned from about the last ten
     * {@linkplain io.varve.memory.config.CurveSettings#windowAccesses windows} of accesses. It takes up to about a
     * millisecond, and locks the shards one after the other, as {@link #stats} does.
     *
     * @param itemClass a class from 0 to {@link #itemClasses} less 1, whose curve assumes that maxmemory is for this
     *     class alone; or {@link MemoryCurve#ALL_CLASSES}
     * @return null if accesses are not recorded ({@link CacheConfig#curves})
     */
    @org.jspecify.annotations.Nullable
    MemoryCurve curve(int itemClass);

    /** The number of item classes, each of which has a curve; one if penalties are not tracked. */
    int itemClasses();

    /**
     * The cost of misses and the penalty classes of items. It locks the shards one after the other, for some
     * microseconds each.
     *
     * @return null if penalties are not tracked ({@link CacheConfig#tracksPenalties})
     */
    @org.jspecify.annotations.Nullable
    PenaltyReport penalties();

    /**
     * The demand for each penalty class. It takes a few microseconds and no lock.
     *
     * @return null if demand is not watched: {@link CacheConfig#demand} disables it, penalties are not tracked, or
     *     there is no secondary tier
     */
    @org.jspecify.annotations.Nullable
    DemandReport demand();

    /**
     * Reserves memory for an item that the secondary tier preloads because the item's class wakes. If memory is full,
     * it evicts other items only while the class is below its share. Called without locks.
     *
     * @return false if the item must stay in the secondary tier: there is no memory, its class is dumped, or demand
     *     is not watched
     */
    boolean admitLoaded(int penaltyClass, long bytes);

    /**
     * Reclaims flushed databases until the next {@code count} flushes, or as many as possible, need no reclaiming. For
     * a caller that then flushes under the locks of all shards, where reclaiming is impossible.
     */
    void prepareFlushes(int count);

    /**
     * Reports every change to a listener from now on. In each shard, the first reported change may be the one after the
     * shard's lock is next taken.
     */
    void subscribe(ChangeListener listener);

    /** Stops reporting changes to a listener; a change in progress may still be reported. */
    void unsubscribe(ChangeListener listener);

    /**
     * Charges maxmemory for memory that another component uses for the items, until the cache is closed.
     *
     * @return false if maxmemory does not allow it
     */
    boolean chargeExternal(long bytes);

    /** Demotes evicted items to this tier from now on. */
    void attachSecondaryTier(SecondaryTier tier);

    /**
     * The most read keys of a logical database in the last seconds, estimated from samples, the most read first.
     *
     * @param count the most keys
     * @return null if {@link CacheConfig#hotKeys} disables it
     */
    @org.jspecify.annotations.Nullable
    List<HotKeys.HotKey> hotKeys(int database, int count);

    /** The present epochs of the databases; {@link #flush} and {@link #swap} change them. */
    Epochs epochs();

    /**
     * Continues with the epochs of an earlier process. The caller must call it before the first write.
     *
     * @throws IllegalArgumentException if the number of databases differs
     */
    void resume(Epochs epochs);

    /**
     * Begins a new epoch of every database, in ascending order, and changes nothing else. The items in the secondary
     * tier thus become unreachable, and a point-in-time scan is aborted.
     *
     * @param meanwhile runs under the locks of all shards
     */
    void renewEpochs(Runnable meanwhile);

    CacheConfig config();

    /** The highest maxmemory that {@link #reconfigure} accepts, in bytes. */
    long highestMaxMemoryBytes();

    /** Applies the settings that may change at run time: limits, policies, expiry on or off. */
    void reconfigure(CacheConfig config);

    /**
     * Makes this cache that of a replica, or ends that. A replica does not remove what has expired: it exists for the
     * thread that runs the primary's commands, until one of them removes it, and for no other thread. A scan at one
     * moment has it.
     *
     * @param thread runs the primary's commands; null: this cache is no replica
     */
    void follow(@Nullable Thread thread);

    /**
     * Keeps what has expired, or ends that. It is hidden from all commands, and removed by none, nor by maintenance.
     */
    void keepExpired(boolean keep);

    /** Checks all data structures and describes each violated invariant; empty if there is none. For tests. */
    List<String> checkIntegrity();

    @Override
    void close();
}
