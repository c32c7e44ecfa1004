package io.varve.memory;

import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.report.HitMissSnapshot;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardSet;
import org.jspecify.annotations.Nullable;

/**
 * One thread's access to the cache. Confined to that thread.
 *
 * <p>A command {@linkplain #bind binds} its keys, {@linkplain #lock locks} their shards (all at once, in ascending
 * order), reads and writes, and {@linkplain #unlock unlocks}. A batch first binds the keys of all its commands and
 * passes them to {@link #touch}, so that cache misses overlap; this is only a hint.
 *
 * <p>A write has two steps. {@link #put} (or {@link #resize}) allocates the value's bytes and the caller fills them in.
 * {@link #changed} then reports that the key has its new value. While the lock is held, no item moves and no other item
 * is freed. Addresses of other items therefore stay valid, but those of the written key do not.
 */
public interface CacheSession {
    /** An argument for {@code expireAtMillis}: keep the key's expiry time, if the key exists. */
    long KEEP = -2;

    // --- time and touch

    /** Sets the wall clock that decides what has expired, in ms since the epoch; the caller reads it once per batch. */
    void now(long wallMillis);

    long now();

    /**
     * The time that decides what has expired for this session: {@link #now}, or 0 in the thread that follows a primary
     * ({@link Cache#follow}).
     */
    long expiryMillis();

    /** Sets whether finding an item renews its access clock (CLIENT NO-TOUCH turns it off). */
    void touching(boolean touch);

    /** Sets whether listeners are notified of keys that {@link #find} misses and of keys that {@link #put} creates. */
    void notifying(boolean notify);

    /**
     * Sets whether a read that misses starts a penalty measurement, which ends with the write that fills the key.
     * Commands that create the item anyway turn it off.
     */
    void awaitingFills(boolean await);

    /** An argument of {@link #writesInto}: each item gets the class of its key's last penalty. */
    int AUTOMATIC = -1;

    /** An unknown penalty class. */
    int UNKNOWN_CLASS = -1;

    /**
     * Sets the penalty class of items written from now on: a hint, or {@link #AUTOMATIC}, the default. It has no effect
     * while penalties are not tracked.
     *
     * @param penaltyClass from 0 to {@link Cache#itemClasses} less 1, or {@link #AUTOMATIC}
     */
    void writesInto(int penaltyClass);

    // --- keys and locks

    /**
     * Protects some keys from eviction until {@link #unpin}, and unpins all others. A command calls it before it
     * reserves memory, so that this does not evict its own keys. Needs no lock.
     *
     * @param keys bound keys
     * @param more hashes of other keys
     */
    void pin(Key[] keys, int first, int count, long... more);

    /**
     * As {@link #pin(Key[], int, int, long...)}, for keys that are not all bound at a time.
     *
     * @param hash returns the hash of the key with a number from 0 to {@code count} less 1
     */
    void pin(int count, IntToLongFunction hash);

    /** Unpins all keys. */
    void unpin();

    /**
     * Lets writes exceed maxmemory until {@link #endOverdraft}. A command of several keys calls it if it has written
     * some of them and other clients have used the memory for the rest.
     */
    void beginOverdraft();

    /** Ends the overdraft: maxmemory limits every write again. */
    void endOverdraft();

    /** Computes hash and shard. Needs no lock. */
    void bind(Key key, int database, long address, int length);

    /**
     * Prefetches the index lines and then the items of bound keys. Needs no lock and guarantees nothing: it may read
     * stale bytes, and uses none of them.
     *
     * @param count how many keys of the array, from its start
     */
    void touch(Key[] keys, int count);

    void lock(Key key);

    /** Locks the key's shard; returns false instead of waiting. */
    boolean tryLock(Key key);

    /**
     * An argument of {@link #lockWithin}: naps of half a millisecond in all, longer than a slice of maintenance. A
     * thread that holds a shard for longer does long work.
     */
    int DEFAULT_NAPS = Shard.DEFAULT_NAPS;

    /**
     * Locks the key's shard unless another thread holds it for long.
     *
     * @param naps how often the caller sleeps, for some 70 microseconds each; 0: it polls for as long as short
     *     commands take; -1: it polls once
     * @param called whether the caller runs because its {@link #onUnlock} was called
     * @return false if another thread holds it
     */
    boolean lockWithin(Key key, int naps, boolean called);

    void unlock(Key key);

    /** Whether the calling thread has locked the key's shard. */
    boolean isLockedByMe(Key key);

    /** Locks all shards of the set in ascending order. */
    void lock(ShardSet shards);

    /**
     * Locks all shards of the set in ascending order, unless another thread holds one of them for long.
     *
     * @param naps the naps for each of them
     * @param called the shards that the caller was called for
     * @return the number of the held shard, with none locked; -1 if all are locked
     */
    int lockWithin(ShardSet shards, int naps, ShardSet called);

    /**
     * Registers a callback that a thread runs once when it unlocks the shard, while it may hold others. It runs at the
     * next unlock or at one soon after, or never if no thread locks the shard again. The shard is then reserved for a
     * moment for the called threads.
     */
    void onUnlock(int shard, Runnable callback);

    /**
     * Renews the reservation for the threads that were called last and delays other callbacks. The caller holds the
     * shard.
     */
    void renewReservation(int shard);

    /**
     * Gives up the reservation of a called thread. The shard is reserved for the threads that are called next, if any.
     */
    void cancelReservation(int shard);

    /** Whether a shard is neither locked nor reserved; the answer may be stale. */
    boolean isFree(int shard);

    /** Whether a thread holds a shard; the answer may be stale. */
    boolean isLocked(int shard);

    void unlock(ShardSet shards);

    // --- lookups (the key's shard is locked)

    /**
     * Finds an item for reading: counts a hit or a miss and renews its access clock. It does not find an expired one.
     */
    boolean find(Key key, Item item);

    /**
     * Copies a key's item without its shard's lock, if it is small and nobody holds the lock. The copy may be a mixture
     * of two items until {@link #confirmOptimisticRead} has accepted it.
     *
     * @return false if the key has to be read under the lock; no optimistic read is open then
     */
    boolean beginOptimisticRead(Key key);

    /**
     * Checks that nobody has held the lock since {@link #beginOptimisticRead}. So the copy is the item as it is now,
     * and whatever the caller has read in between was true at the same moment. Until {@link #endOptimisticRead},
     * {@link #find} and {@link #peek} of this key return the copy; no method may be called that needs the lock.
     *
     * @return false if the key has to be read under the lock; no optimistic read is open then
     */
    boolean confirmOptimisticRead();

    /** Ends the optimistic read. Renews the access clock of an item that {@link #find} has returned. */
    void endOptimisticRead();

    /** Saves the hit and miss counters of the set's shards, which are locked. */
    void note(ShardSet shards, HitMissSnapshot snapshot);

    /**
     * Restores the hit and miss counters of the set's shards, which stayed locked since: the caller will repeat its
     * lookups.
     */
    void forgetSince(ShardSet shards, HitMissSnapshot snapshot);

    /** Finds an item for writing: renews its access clock, but counts neither a hit nor a miss. */
    boolean findForWriting(Key key, Item item);

    /** Finds an item without counting and without renewing its clock. */
    boolean peek(Key key, Item item);

    /** Milliseconds since the last access, with a resolution of one second, or -1 if the policy keeps no clock. */
    long idleMillis(Item item);

    /** The logarithmic access counter (0 to 255), or -1 if the policy keeps no frequency. */
    int frequency(Item item);

    /** The penalty class of a found item; 0 if it is unknown. */
    int penaltyClass(Item item);

    /**
     * Assigns a found item to a penalty class. This hint lasts until a write to the key chooses another class.
     *
     * @param penaltyClass from 0 to {@link Cache#itemClasses} less 1
     */
    void penaltyClass(Item item, int penaltyClass);

    /**
     * Sets a found item's last access or access count, whichever the policy stores: a clock or a frequency. It does
     * nothing under allkeys-hyperbolic.
     *
     * @param idleSeconds seconds since the last access; negative if not given
     * @param frequency the logarithmic access counter, 0 to 255; negative if not given
     */
    void access(Item item, long idleSeconds, int frequency);

    /**
     * Pins a found item: it is not evicted until it is unpinned. The pin belongs to the key, so an item that replaces
     * this one is pinned too; it ends when the key is deleted or expires.
     *
     * @param maxPinnedBytes the most bytes that all pinned items may take with it; those of items that grow later may
     *     exceed it
     * @return false if they would take more; true also if it is pinned already
     */
    boolean pinItem(Item item, long maxPinnedBytes);

    /** Unpins a found item; false if it was not pinned. */
    boolean unpinItem(Item item);

    /** Whether a found item is pinned. */
    boolean isPinned(Item item);

    /** The memory of the item in bytes: its own, its nodes if it is a tree, its index slot, its expiry entry. */
    long memoryUsage(Item item);

    /** The run of a large item, not retained; null for an item in a segment. */
    @Nullable
    ValueRun runOf(Item item);

    /** The epoch of a logical database; it changes only under the locks of all shards. */
    long epoch(int database);

    // --- writes (the key's shard is locked)

    /**
     * Creates an item of {@code valueLength} bytes under the key, in place if it fits, else appended; it replaces the
     * old item. The value's bytes are undefined: the caller writes them and then calls {@link #changed}.
     *
     * @param capacity bytes that the value may later grow to in place, at least {@code valueLength}
     * @param expireAtMillis 48-bit ms since the epoch (larger ones are reduced to the largest), {@link Item#NEVER}
     *     or {@link #KEEP}
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the key is then unchanged
     */
    void put(Key key, Item item, ItemType type, int encoding, int valueLength, int capacity, long expireAtMillis);

    /** {@link #put}, the bytes copied from {@code valueAddress}, and {@link #changed}. */
    void set(Key key, ItemType type, int encoding, long valueAddress, int valueLength, long expireAtMillis);

    /** As {@link #set}, for a value that arrived in a run: it takes over the caller's hold and copies nothing. */
    void putRun(Key key, Item item, ValueRun run, int encoding, long expireAtMillis);

    /**
     * Restores an item from the secondary tier, unless the key exists. A point-in-time scan visits what shares an index
     * bucket with it first, so it does not visit the item in memory.
     *
     * @param value an array with the value's bytes, from {@code from} on
     * @param access the item's access bits
     * @param penaltyClass its penalty class, or {@link #UNKNOWN_CLASS} to use the remembered class of the key
     * @return whether it was restored
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it
     */
    boolean restore(Key key, ItemType type, int encoding, byte[] value, int from, int valueLength, long expireAtMillis,
            int access, int penaltyClass);

    /**
     * Reports that the secondary tier has dropped a key, which from then on exists in no tier. Its shard is locked.
     */
    void dropped(Key key);

    /** The bytes that a run needs before its value for an item with this key length: for {@link Cache#newRun}. */
    int headroom(int keyLength);

    /**
     * Changes the length of a found item's value. The bytes up to the shorter of both lengths stay; the rest is
     * undefined. Type, expiry and access clock stay. The item moves if it does not fit. The caller then writes and
     * calls {@link #changed}.
     *
     * @param capacity at least {@code valueLength}; used only if the item has to move
     */
    void resize(Key key, Item item, int encoding, int valueLength, int capacity);

    /** Changes the encoding bits of a found item. */
    void encoding(Key key, Item item, int encoding);

    /** Reports that a write is complete. All changes of the key space go through this method. */
    void changed(Key key, Change change);

    /**
     * Sets whether the commands to come may derive a change from the keys that they only read. During a point-in-time
     * scan these are captured too: a log that begins with the scan needs them to run the commands again, even if they
     * are evicted before the scan reaches them.
     */
    void deriving(boolean derives);

    /** The number of changes of keys that this session has made, without the expirations that it has come upon. */
    long changes();

    /**
     * Deletes the key.
     *
     * @return whether it existed and had not expired
     */
    boolean delete(Key key);

    /**
     * Sets a found item's expiry time, which may move the item.
     *
     * @param expireAtMillis a time in the future of {@link #now}, or {@link Item#NEVER}
     */
    void expire(Key key, Item item, long expireAtMillis);

    /**
     * Prepares a found hash, packed or large, for fields with times and for the expiry cycle when the first is due;
     * this may move its item. A packed one then begins with a word, as
     * {@link io.varve.memory.collection.TimedHashLayout} draws it, and its encoding is {@link Item#TIMED}. A large one
     * {@link io.varve.memory.collection.HashTree#keepsTimes keeps times}.
     *
     * @param earliestMillis the earliest of these times, milliseconds since the epoch
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the fields are then unchanged
     */
    void keepFieldTimes(Key key, Item item, long earliestMillis);

    /**
     * Restores the form that a found hash had before {@link #keepFieldTimes}, if none of its fields has got a time.
     * Never refused.
     */
    void forgetFieldTimes(Key key, Item item);

    /**
     * The time at which a found item changes without a command: its key expires, or a field is due. Milliseconds since
     * the epoch, or {@link Item#NEVER}.
     */
    long changesAtMillis(Item item);

    // --- large collections (the keys' shards are locked)

    /**
     * Opens a tree object on a found item that {@link Item#isTree is a tree}. The object is valid as long as the item.
     *
     * @throws IllegalArgumentException if the item is no tree of the object's type
     */
    void open(Key key, Item item, CollectionTree tree);

    /**
     * Creates a large collection under the key, in place of the present value, if any. The present item keeps its place
     * and bytes until the filler has returned, so the filler can read it. The caller calls {@link #changed} afterwards.
     *
     * @param tree the tree that the filler puts at least one element into
     * @param expireAtMillis as in {@link #put}
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the key is then unchanged
     */
    void makeTree(Key key, Item item, CollectionTree tree, long expireAtMillis, TreeFiller filler);

    /**
     * Moves a found large collection to another key, in place of its value, deletes the first key, and reports both
     * changes. It copies nothing if both keys are in one shard.
     *
     * @param written is opened on the item under the other key
     * @param expireAtMillis as in {@link #put}
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; both keys are then unchanged
     */
    void moveTree(Key from, Item item, Key to, Item written, long expireAtMillis);

    /**
     * Moves the memory of a found large item, with its expiry time, to another key and deletes the item's own key. It
     * copies nothing.
     *
     * @return false, with nothing changed, if the item has no run of its own or the other key is too long for the
     *     run
     */
    boolean moveRun(Key from, Item item, Key to, Item written);

    /** As {@link #moveTree}, but the first key keeps its collection. */
    void copyTree(Key from, Item item, Key to, Item written, long expireAtMillis);

    // --- walks (the caller holds no lock)

    /**
     * Visits the items of some index buckets. It visits an item that is present during a whole scan exactly once,
     * despite rehash, displacement, insert and delete. It does not visit expired items.
     *
     * @param cursor 0 to start, else the result of the last call
     * @param count the number of items to visit at least, if there are as many; the call visits few more
     * @return the next cursor; 0 at the end
     */
    long scan(int database, long cursor, int count, ItemVisitor visitor);

    /**
     * As {@link #scan}, for the items of one slot, all in one shard. It visits a fixed number of index buckets.
     *
     * @throws IllegalStateException if keys have no slots
     */
    default long scanSlot(int database, int slot, long cursor, ItemVisitor visitor) {
        return scanSlots(database, slot, other -> other == slot, cursor, visitor);
    }

    /**
     * As {@link #scanSlot}, for all wanted slots in the shard of one.
     *
     * @param slot chooses the shard
     */
    long scanSlots(int database, int slot, IntPredicate wanted, long cursor, ItemVisitor visitor);

    /** Visits one random item; false if the database is empty. */
    boolean random(int database, ItemVisitor visitor);
}
