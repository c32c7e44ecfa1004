package io.varve.memory;

import java.util.function.IntToLongFunction;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.shard.Shard;
import org.jspecify.annotations.Nullable;

/**
 * How one thread goes through the door. Confined to that thread.
 *
 * <p>The order of a command: {@link #bind} its keys, {@link #lock} their shards (all of them at once, ascending), look
 * and write, {@link #unlock}. A batch binds the keys of all its commands first and calls {@link #touch} with all of them, so
 * that cache misses overlap; that is a hint only.
 *
 * <p>A write has two steps: {@link #put} (or {@link #resize}) makes the room, the caller fills it in, and
 * {@link #changed} tells that the key has its new value. No item moves and nothing else is freed while the lock is
 * held, so the addresses of other items stay valid; those of the key written do not.
 */
public interface CacheSession {
    /** For {@code expireAtMillis}: what the key has, if it is there. */
    long KEEP = -2;

    // --- time and touch

    /** The wall clock that decides what has expired, read by the caller once for a batch, ms since the epoch. */
    void now(long wallMillis);

    long now();

    /** Whether finding an item renews its access clock (CLIENT NO-TOUCH turns it off). */
    void touching(boolean touch);

    /** Whether listeners are told of keys that {@link #find} misses, and of those that come by {@link #put}. */
    void telling(boolean tell);

    /** Whether a read that misses begins to wait for the write that fills it, which makes its penalty: not one by who makes the item anyway. */
    void awaitingFills(boolean await);

    /** For {@link #writesInto}: each item gets the class of what its key's miss has cost. */
    int AUTOMATIC = -1;

    /** In place of a class of penalty: nobody knows it. */
    int UNKNOWN_CLASS = -1;

    /**
     * The class of penalty of items that are written from now on: a hint for them, or {@link #AUTOMATIC}, as it is at first. Without effect while
     * penalties are not tracked.
     *
     * @param penaltyClass from 0 to {@link Cache#itemClasses} less 1, or {@link #AUTOMATIC}
     */
    void writesInto(int penaltyClass);

    // --- keys and locks

    /**
     * Keeps eviction from some keys until {@link #unpin}, in place of those that were pinned before: a command does so before it has
     * room made, so that the room is not made out of its own keys. Needs no lock.
     *
     * @param keys  bound
     * @param more  hashes of other keys
     */
    void pin(Key[] keys, int first, int count, long... more);

    /**
     * The same for keys that are not all bound at a time.
     *
     * @param hash of each of so many keys
     */
    void pin(int count, IntToLongFunction hash);

    /** Pins no key. */
    void unpin();

    /**
     * Lets writes exceed maxmemory until {@link #endOverdraft}. A command of several keys calls it if it has written some
     * of them and other clients have used the room for the rest.
     */
    void beginOverdraft();

    /** Ends the overdraft: maxmemory limits every write again. */
    void endOverdraft();

    /** Computes hash and shard. Needs no lock. */
    void bind(Key key, int database, long address, int length);

    /**
     * Reads the index lines and then the items of bound keys ahead of use. Needs no lock and promises nothing: what is read
     * may be stale, and nothing read is used.
     *
     * @param count how many of the array, from its start
     */
    void touch(Key[] keys, int count);

    void lock(Key key);

    /** Locks the key's shard unless that would have to wait; false if so. */
    boolean tryLock(Key key);

    /**
     * Naps for {@link #lockWithin}: half a millisecond, longer than a slice of maintenance. Who holds a shard for longer has work that takes
     * long.
     */
    int PATIENCE_NAPS = Shard.PATIENCE_NAPS;

    /**
     * Locks the key's shard unless another thread has it for long; false if so.
     *
     * @param naps   how often the caller sleeps for it, for some 70 microseconds each; 0: it looks for as long as short commands take; -1: it looks
     *               once
     * @param called whether the caller was called as one who {@link #want wanted} it
     */
    boolean lockWithin(Key key, int naps, boolean called);

    void unlock(Key key);

    /** Locks all shards of the set in ascending order. */
    void lock(ShardSet shards);

    /**
     * The same, unless another thread has one of them for long.
     *
     * @param naps   for each of them
     * @param called which of them the caller was called for
     * @return the number of that shard, and none is locked; -1 if all are
     */
    int lockWithin(ShardSet shards, int naps, ShardSet called);

    /**
     * Has something run by a thread that unlocks a shard, once, while it may hold others: at the next time, or at one soon after it, or never if nobody
     * locks it any more. The shard is then reserved for a moment for those who were called.
     */
    void want(int shard, Runnable call);

    /** By who has locked a shard: it is reserved again for those who were called last, and others who want it are not called yet. */
    void keepReserved(int shard);

    /** Who was called for a shard does not want it any more: it is reserved for those who are called now, or for nobody. */
    void forgo(int shard);

    /** Whether anybody could lock a shard, as no thread has it and it is reserved for nobody: the answer may be late. */
    boolean isFree(int shard);

    /** Whether a thread has a shard: the answer may be late. */
    boolean isLocked(int shard);

    void unlock(ShardSet shards);

    // --- look (the key's shard is locked)

    /** Finds an item for reading: counts a hit or a miss and renews its access clock. An expired one is not found. */
    boolean find(Key key, Item item);

    /** Notes how many hits and misses the shards of the set, which are locked, have counted so far. */
    void note(ShardSet shards, Looks looks);

    /** They count from there on again: who has looked for something since is going to do so once more, and has not let go of the locks. */
    void forgetSince(ShardSet shards, Looks looks);

    /** Finds an item that is about to be changed: renews its access clock, but is neither a hit nor a miss. */
    boolean findForWriting(Key key, Item item);

    /** Finds an item without leaving a trace: no count, no clock. */
    boolean peek(Key key, Item item);

    /** Milliseconds since the last access, to the second, or -1 if the policy keeps no clock. */
    long idleMillis(Item item);

    /** The logarithmic access counter (0 to 255), or -1 if the policy keeps no frequency. */
    int frequency(Item item);

    /** The class of penalty of a found item; 0 where nothing is known of it. */
    int penaltyClass(Item item);

    /**
     * Puts a found item into a class of penalty: a hint, which it keeps until a write to its key says otherwise.
     *
     * @param penaltyClass from 0 to {@link Cache#itemClasses} less 1
     */
    void penaltyClass(Item item, int penaltyClass);

    /**
     * Says when a found item was used last, or how often, as the policy keeps it: a time where it keeps a clock, a counter where it keeps
     * a frequency, nothing under allkeys-hyperbolic.
     *
     * @param idleSeconds since the last access; negative: not said
     * @param frequency   the logarithmic access counter, 0 to 255; negative: not said
     */
    void access(Item item, long idleSeconds, int frequency);

    /** Bytes that the item takes in memory: its own, its nodes if it is a tree, its index slot, its expiry bookkeeping. */
    long memoryUsage(Item item);

    /** The run of a large item, not retained; null for an item that lives in a segment. */
    @Nullable
    ValueRun runOf(Item item);

    /** The epoch of a logical database: it changes while no shard is locked. */
    long epoch(int database);

    // --- write (the key's shard is locked)

    /**
     * Makes an item of {@code valueLength} bytes under the key, in place if it fits, else appended; what was there is
     * gone. The value's bytes are undefined: the caller writes them and then calls {@link #changed}.
     *
     * @param capacity       bytes the value may later grow to in place, at least {@code valueLength}
     * @param expireAtMillis 48-bit ms since the epoch (larger ones are cut to the largest), {@link Item#NEVER} or
     *                       {@link #KEEP}
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the key is then as it was
     */
    void put(Key key, Item item, ItemType type, int encoding, int valueLength, int capacity, long expireAtMillis);

    /** {@link #put}, the bytes copied from {@code valueAddress}, and {@link #changed}. */
    void set(Key key, ItemType type, int encoding, long valueAddress, int valueLength, long expireAtMillis);

    /** Like {@link #set} for a value that arrived in a run: takes the caller's hold over, copies nothing. */
    void putRun(Key key, Item item, ValueRun run, int encoding, long expireAtMillis);

    /**
     * Brings an item back from the tier below, as it fell, unless the key is there.
     *
     * @param value        the value's bytes, from {@code from} on
     * @param access       its access bits
     * @param penaltyClass its class of penalty, or {@link #UNKNOWN_CLASS}: then what is remembered of the key tells
     * @return whether it was brought back
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it
     */
    boolean restore(Key key, ItemType type, int encoding, byte[] value, int from, int valueLength, long expireAtMillis,
            int access, int penaltyClass);

    /** Bytes in front of the value that a run needs for an item with this key length: for {@link Cache#newRun}. */
    int headRoom(int keyLength);

    /**
     * Changes the length of a found item's value; the bytes up to the shorter of both lengths stay, the rest is
     * undefined. Type, expiry and access clock stay. Moves the item if it does not fit. The caller then writes and
     * calls {@link #changed}.
     *
     * @param capacity at least {@code valueLength}; used only if the item has to move
     */
    void resize(Key key, Item item, int encoding, int valueLength, int capacity);

    /** Changes the encoding bits of a found item. */
    void encoding(Key key, Item item, int encoding);

    /** The one door for change: tells that a write is complete. */
    void changed(Key key, Change change);

    /**
     * Deletes the key.
     *
     * @return whether it was there and had not expired
     */
    boolean delete(Key key);

    /**
     * Sets a found item's expiry time, which may move the item.
     *
     * @param expireAtMillis a time in the future of {@link #now}, or {@link Item#NEVER}
     */
    void expire(Key key, Item item, long expireAtMillis);

    /**
     * A found hash, packed or large, gets fields with times: from now on it has room for them and is looked at when the first of them is
     * due, which may move its item. A packed one then begins with a word, as {@link io.varve.memory.collection.TimedHashLayout} draws it, and
     * its encoding is {@link Item#TIMED}; a large one {@link io.varve.memory.collection.HashTree#keepsTimes keeps times}.
     *
     * @param earliestMillis the earliest of these times, milliseconds since the epoch
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the fields are then as they were
     */
    void keepFieldTimes(Key key, Item item, long earliestMillis);

    /**
     * A found hash that {@linkplain #keepFieldTimes keeps times}, and none of whose fields has got one, has the form again that it had
     * before. Never refused.
     */
    void forgetFieldTimes(Key key, Item item);

    /**
     * When a found item is not any more what it is without anybody's doing: its key expires, or a field of it is due. Milliseconds since
     * the epoch, or {@link Item#NEVER}.
     */
    long changesAtMillis(Item item);

    // --- large collections (the keys' shards are locked)

    /**
     * Has a tree object look at a found item that {@link Item#isTree is a tree}. It is valid as the item is.
     *
     * @throws IllegalArgumentException if the item is no tree of the object's type
     */
    void open(Key key, Item item, CollectionTree tree);

    /**
     * Makes a large collection under the key, in the place of whatever is there: a packed value, another type, nothing. What is
     * there keeps its place and its bytes until the filler has returned, so it can be read by it. The caller calls
     * {@link #changed} afterwards.
     *
     * @param tree           what the filler puts elements into, at least one
     * @param expireAtMillis as in {@link #put}
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the key is then as it was
     */
    void makeTree(Key key, Item item, CollectionTree tree, long expireAtMillis, TreeFiller filler);

    /**
     * Gives a found large collection to another key, in the place of whatever is there, and deletes the first; tells of both.
     * Nothing is copied where both keys are in one shard.
     *
     * @param written        looks at the item under the other key afterwards
     * @param expireAtMillis as in {@link #put}
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; both keys are then as they were
     */
    void moveTree(Key from, Item item, Key to, Item written, long expireAtMillis);

    /**
     * Gives the memory of a large item that was found, with its expiry time, to another key; the item's own key goes. Nothing is copied.
     *
     * @return false if the item is not large enough for memory of its own, or the other key is too long for it: nothing has changed then
     */
    boolean moveRun(Key from, Item item, Key to, Item written);

    /** As {@link #moveTree}, but the first key keeps its collection. */
    void copyTree(Key from, Item item, Key to, Item written, long expireAtMillis);

    // --- walks (no lock held by the caller)

    /**
     * Visits the items of some index buckets. An item that is there throughout a whole scan is visited exactly once,
     * whatever rehash, displacement, insert and delete do meanwhile. Expired items are not visited.
     *
     * @param cursor 0 to start, else what the last call returned
     * @param count  visits at least so many items if there are as many, and few more
     * @return the next cursor; 0 at the end
     */
    long scan(int database, long cursor, int count, ItemVisitor visitor);

    /** Visits one item picked at random; false if the database is empty. */
    boolean random(int database, ItemVisitor visitor);
}
