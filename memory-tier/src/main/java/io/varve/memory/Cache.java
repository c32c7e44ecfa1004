package io.varve.memory;

import java.util.List;
import java.util.function.LongUnaryOperator;

import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.LowerTier;
import io.varve.memory.item.ValueRun;

/**
 * The memory tier: an off-heap store of typed items by key, in numbered databases, with expiry and eviction. Many
 * threads; each talks through a {@link CacheSession} of its own.
 *
 * <p>The key space is divided into shards, each guarded by its own lock. Maintenance (expiry, cleaning, rehash, freeing)
 * runs in {@link #maintain}, called by one thread over and over; it holds a lock for 200 µs at most at a time.
 */
public interface Cache extends AutoCloseable {
    /**
     * Reserves the memory and starts empty. No thread is started: see {@link #maintain}.
     *
     * @throws IllegalArgumentException if the configuration cannot work, with what is allowed
     * @throws OutOfMemoryError         if the system refuses the address space
     */
    static Cache open(CacheConfig config) {
        return open(config, 0);
    }

    /**
     * The same, with address space for maxmemory to be raised to.
     *
     * @param mostBytes the most that maxmemory may be raised to; less than twice what it is, or than 1 GiB, stands for that
     */
    static Cache open(CacheConfig config, long mostBytes) {
        return InMemoryCache.open(config, mostBytes);
    }

    /** A door for one thread. */
    CacheSession newSession();

    int shardCount();

    int databaseCount();

    /** Items of a logical database, expired but unreclaimed ones included, as DBSIZE counts them. */
    long size(int database);

    /**
     * The same and what the tier below has, at one moment: nothing falls or comes back meanwhile.
     *
     * @param below how many items of an epoch there are; asked under the locks of all shards
     */
    long size(int database, LongUnaryOperator below);

    /** Items of a logical database that have an expiry time. */
    long expiringSize(int database);

    /** Empties one logical database at once; the memory comes back in slices through {@link #maintain}. */
    void flush(int database);

    /** Empties all of them at once, in their order: each begins a new epoch. */
    void flushAll();

    /** Exchanges two logical databases at once. */
    void swap(int first, int second);

    /**
     * Makes room for a command that may add up to {@code bytes}, evicting if the policy allows. Called without locks,
     * before a command that may use memory. After {@code true}, writes of that size do not fail.
     *
     * @return false if the policy frees nothing more: the command is to be refused with the OOM error
     */
    boolean admit(long bytes);

    /**
     * The same for a command whose keys are {@linkplain CacheSession#pin pinned}: if it does not fit beside them nothing is evicted in vain.
     *
     * @param pinnedBytes of the items of those keys
     */
    boolean admit(long bytes, long pinnedBytes);

    /** Whether {@link #admit} would say yes at once, as far as that can be told without a lock. */
    boolean hasRoom(long bytes);

    /**
     * The bytes of maxmemory that an item takes. They exceed its length, because a run takes whole pages and the end of a
     * segment stays unused.
     *
     * @param itemBytes its length with header and key, at least 1
     */
    long takenBy(long itemBytes);

    /**
     * A run of memory for a large value that has not arrived yet, charged to maxmemory, to be filled by the caller and
     * handed over by {@link CacheSession#putRun}, or released.
     *
     * @param headRoom bytes that the item's header and key will need at most in front of the value: see
     *                 {@link CacheSession#headRoom}
     * @param length   bytes of the value
     * @return null if maxmemory does not allow it
     */
    @org.jspecify.annotations.Nullable
    ValueRun newRun(int headRoom, int length);

    /**
     * Memory for what a connection has to keep beyond its ordinary buffers, charged to maxmemory. Evicts nothing, so that
     * it may be asked for under a shard's lock: where it is refused, {@link #admit} makes the room, without locks, before
     * it is asked for again.
     *
     * @return a run with one holder, the caller; null if maxmemory has no room left for it
     */
    @org.jspecify.annotations.Nullable
    ValueRun newBuffer(int bytes);

    /** The least length, in bytes, of a value that lives in a run of its own. */
    int runThresholdBytes();

    /**
     * One slice of maintenance over all shards: expiry when its cycle is due, cleaning, rehash, freeing. Called by one
     * thread at a time.
     *
     * @param giveWay done after each hold of a shard's lock in which work was done, without a lock: who has commands to
     *                execute lets them go first there
     * @return nanoseconds until the next call is of use; 0 if there is more to do at once
     */
    long maintain(Runnable giveWay);

    /** The same where nobody waits. */
    default long maintain() {
        return maintain(() -> {});
    }

    /**
     * Lets {@link #maintain}, when it is called next, give all memory back to the system that is free at that time, however short a
     * time ago it was freed. Returns at once.
     */
    void giveBackSoon();

    /**
     * Counts the items that are past their time and not yet reclaimed, now: walks everything that may be, slice by slice. For
     * tests and measurements; {@link CacheStats#expiredUnreclaimed} costs nothing.
     */
    long countExpiredUnreclaimed();

    /**
     * Sums kept by the shards, which are locked one after the other for some hundred nanoseconds each: reads no item, however
     * many there are. What has to be counted is what {@link #maintain} counted last, about a second ago at the most unless very
     * many items are past their time.
     */
    CacheStats stats();

    void resetStats();

    /** Of {@link #curve}: all classes together. */
    int ALL_CLASSES = -1;

    /**
     * The share of reads that would miss with another maxmemory, learnt from the last ten or so {@linkplain CurveSettings#windowAccesses windows} of accesses. Takes a millisecond
     * at the most and locks shards as {@link #stats} does; none is kept from its work.
     *
     * @param itemClass from 0 to {@link #itemClasses} less 1, as if that class had memory of its own; or {@link #ALL_CLASSES}
     * @return null if accesses are not recorded ({@link CacheConfig#curves})
     */
    @org.jspecify.annotations.Nullable
    MemoryCurve curve(int itemClass);

    /** Classes of items: there are curves for each. One where penalties are not tracked. */
    int itemClasses();

    /**
     * What misses cost, and the classes of items by it. Takes some microseconds for each shard, which are locked one after the other.
     *
     * @return null if penalties are not tracked ({@link CacheConfig#tracksPenalties})
     */
    @org.jspecify.annotations.Nullable
    PenaltyReport penalties();

    /**
     * What is known of the demand for each class of penalty. Takes a few microseconds and no lock.
     *
     * @return null if it is not watched: {@link CacheConfig#demand} says no, penalties are not tracked, or there is no tier below
     */
    @org.jspecify.annotations.Nullable
    DemandReport demand();

    /**
     * Makes room for an item that comes back from the tier below without being asked for, because its class wakes. Where memory is full others go for it only as long
     * as the class has less than its share. Called without locks.
     *
     * @return false if there is no room for it, or its class is dumped, or demand is not watched: it is to stay below
     */
    boolean admitLoaded(int penaltyClass, long bytes);

    /**
     * Makes sure that so many databases can be flushed one after the other while nothing is reclaimed, as far as there can be as many
     * at all: the caller is about to take the locks of all shards, and to flush under them.
     */
    void prepareFlushes(int count);

    /** Told of every change from now on: of a shard, of all that begin after the next time its lock is taken. */
    void subscribe(ChangeListener listener);

    /** Told no more; a change on its way may still be told. */
    void unsubscribe(ChangeListener listener);

    /**
     * Charges memory that is held elsewhere for the sake of the items, for as long as the cache is open.
     *
     * @return false if maxmemory has no room for it
     */
    boolean chargeElsewhere(long bytes);

    /** What is evicted falls to this tier from now on. */
    void lower(LowerTier tier);

    /** The epochs of the databases: those that {@link #flush} and {@link #swap} have made. */
    Epochs epochs();

    /**
     * Goes on with the epochs of an earlier life. To be called before anything is written.
     *
     * @throws IllegalArgumentException if they are not of as many databases
     */
    void resume(Epochs epochs);

    /**
     * Begins a new epoch of every database, in their order, and changes nothing else: what is below is not theirs any more.
     *
     * @param meanwhile done under the locks of all shards
     */
    void renewEpochs(Runnable meanwhile);

    CacheConfig config();

    /** Takes over what may change at run time: limits, policies, expiry on or off. */
    void reconfigure(CacheConfig config);

    /** Walks everything and reports every violated invariant; empty if the cache is sound. For tests. */
    List<String> checkIntegrity();

    @Override
    void close();
}
