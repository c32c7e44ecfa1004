package io.varve.memory.shard;

import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.Location;
import io.varve.memory.shard.cleaning.ShardCleaner;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.context.ShardLock;
import io.varve.memory.shard.item.ItemAccess;
import io.varve.memory.shard.item.ShardChanges;
import io.varve.memory.shard.item.ShardItems;
import io.varve.memory.shard.item.ShardPins;
import io.varve.memory.shard.item.TimedHashes;
import io.varve.memory.shard.learning.ShardPenalties;
import org.jspecify.annotations.Nullable;

/**
 * The unit of ownership: a part of the key space with its index, its segments and its expiry. Guarded by {@link #lock};
 * every method but {@link #indexLine} and {@link #suggestedItem} requires it.
 *
 * <p>This class decides the order of steps when a key is looked up, written or deleted. {@link ShardItems} implements
 * the steps.
 */
public final class Shard {
    /** An expiry time argument of {@code put}: keep the key's present one. */
    public static final long KEEP = -2;
    /** The load at which an index doubles, in the shard that doubles last... */
    public static final double MAX_INDEX_LOAD = 0.87;
    /**
     * ... and how much earlier the first one doubles. The stagger lets indexes double one after the other, if the cache
     * grows slowly enough for maintenance to move one index before the next begins. It is no larger, because a table
     * that doubles earlier than it must is half empty for longer.
     */
    public static final double INDEX_LOAD_STAGGER = 0.05;
    /**
     * An argument of {@link #lockWithin}: naps of half a millisecond in all, longer than a slice of maintenance. A
     * thread that holds a shard for longer does long work.
     */
    public static final int DEFAULT_NAPS = 7;

    private final ShardLock lock = new ShardLock();
    private final ShardContext context;
    private final ShardChanges changes;
    private final ShardItems items;
    private final ShardCleaner cleaner;
    private final LargeValues largeValues;
    private final ShardCollections collections;
    private final ShardKeyspace keyspace;
    private final ShardUpkeep upkeep;
    private final Lifetimes lifetimes;
    private final KeyExpiry keyExpiry;
    private final ShardReclaim reclaim;
    private final ShardDemotion demotion;
    private long hits;
    private long misses;
    private @Nullable ShardCapture capture;

    public Shard(int number, ShardContext context, int maxOpenSegments, double growLoad, ExpireAlgorithm algorithm,
            int expireBaseMillis, int expireBuckets) {
        this.context = context;
        this.changes = new ShardChanges(number, context, lock);
        this.items = new ShardItems(number, context, changes, maxOpenSegments, growLoad, algorithm, expireBaseMillis,
                expireBuckets);
        this.cleaner = new ShardCleaner(items, context);
        largeValues = new LargeValues(this, context);
        this.collections = new ShardCollections(this, context);
        this.keyspace = new ShardKeyspace(items, context);
        this.upkeep = new ShardUpkeep(items);
        this.lifetimes = new Lifetimes(items, context);
        this.keyExpiry = new KeyExpiry(items);
        this.reclaim = new ShardReclaim(items, context, cleaner);
        this.demotion = new ShardDemotion(items, context);
    }

    // --- lock

    public void lock() {
        lock.lock();
    }

    public boolean tryLock() {
        return lock.tryLock();
    }

    /**
     * Locks the shard unless another thread holds it for long.
     *
     * @param naps how often the caller sleeps, for some 70 microseconds each; 0: it polls without sleeping; -1: it
     *     polls once
     * @param called whether the caller runs because its {@link #onUnlock} was called
     * @return false if another thread holds it
     */
    public boolean lockWithin(int naps, boolean called) {
        return lock.lockWithin(naps, called);
    }

    /**
     * Registers a callback that a thread runs once when it unlocks the shard, while it may hold others: at the next
     * unlock or at one soon after.
     */
    public void onUnlock(Runnable callback) {
        lock.onUnlock(callback);
    }

    /** Renews the reservation for the threads that were called last and delays other callbacks. For its holder. */
    public void renewReservation() {
        lock.renewReservation();
    }

    /**
     * Gives up the reservation of a called thread. The shard is reserved for the threads that are called next, if any.
     */
    public void cancelReservation() {
        lock.cancelReservation();
    }

    /** Whether the shard is neither locked nor reserved; the answer may be stale. */
    public boolean isFree() {
        return lock.isFree();
    }

    /** Whether a thread holds the shard; the answer may be stale. */
    public boolean isLocked() {
        return lock.isHeld();
    }

    public void unlock() {
        lock.unlock();
    }

    /** Whether the calling thread holds the shard's lock. */
    public boolean isLockedByMe() {
        return lock.isHeldByMe();
    }

    // --- without the lock

    /** The lock, whose word is the version for readers without it. */
    ShardLock lockWord() {
        return lock;
    }

    /** The address of the key's index line; always readable. */
    public long indexLine(Key key) {
        Index index = items.indexOrNull(context.databases.physical(key.database()));
        return index == null ? context.pool.segmentAddress(0) : index.lineAddress(key.hash());
    }

    /** The address of the item that the index line suggests; always readable, whatever it holds by now. */
    public long suggestedItem(Key key) {
        Index index = items.indexOrNull(context.databases.physical(key.database()));
        if (index == null) {
            return context.pool.segmentAddress(0);
        }
        long location = index.suggest(key.hash());
        return location == Index.NONE || Location.isLarge(location) || !context.pool.holds(location)
                ? context.pool.segmentAddress(0)
                : context.pool.address(location);
    }

    // --- lookups

    /**
     * Finds an item for reading, and counts a hit or a miss.
     *
     * @param awaitFill whether a miss starts to wait for the write that fills it
     */
    public boolean find(Key key, Item item, long nowMillis, boolean touch, boolean awaitFill) {
        boolean found = findForWriting(key, item, nowMillis, touch);
        if (found) {
            hits++;
        } else {
            misses++;
        }
        if (touch) {
            items.penalties().read(key, item, found, awaitFill);
        }
        return found;
    }

    /** The number of hits of {@link #find}. */
    public long hits() {
        return hits;
    }

    /** The number of its misses. */
    public long misses() {
        return misses;
    }

    /** Resets hits and misses to earlier values: the caller will repeat its lookups. */
    public void counted(long hitsBefore, long missesBefore) {
        assert isLockedByMe() && hitsBefore <= hits && missesBefore <= misses : "the counters were lower before";
        hits = hitsBefore;
        misses = missesBefore;
    }

    /** Notifies listeners that a key was not found. */
    public void notifyMissed(Key key) {
        changes.notifyMissed(key);
    }

    /** Finds an item and counts neither a hit nor a miss. */
    public boolean findForWriting(Key key, Item item, long nowMillis, boolean touch) {
        long location = locate(key, nowMillis);
        if (location == Index.NONE) {
            return false;
        }
        long address = items.address(location);
        long header = ItemLayout.header(address);
        if (touch) {
            long touched = items.access().touched(header, nowMillis);
            if (touched != header) {
                header = touched;
                ItemLayout.header(address, header);
            }
        }
        items.bind(item, location, address, header);
        return true;
    }

    public boolean peek(Key key, Item item, long nowMillis) {
        long location = locate(key, nowMillis);
        if (location == Index.NONE) {
            return false;
        }
        items.bind(item, location, items.address(location));
        return true;
    }

    /**
     * The location of the key's item, which the index remembers as found; it removes an expired item and does not find
     * it. See {@link ShardContext#removesExpired} for replicas.
     */
    long locate(Key key, long nowMillis) {
        assert isLockedByMe();
        int physical = context.databases.physical(key.database());
        Index index = items.indexOrNull(physical);
        if (index == null) {
            return Index.NONE;
        }
        long location = index.find(key.hash(), key.address(), key.length());
        if (location != Index.NONE
                && ShardItems.isExpired(ItemLayout.expireAtMillis(items.address(location)), nowMillis)
                && items.expireFound(index, location, physical, nowMillis)) {
            return Index.NONE;
        }
        return location;
    }

    /** See {@link ItemFootprint#memoryUsage}. */
    public long memoryUsage(Item item) {
        return ItemFootprint.memoryUsage(items, context, item);
    }

    /** The expiry time of the key of the item at an address, or {@link Item#NEVER}. */
    public static long expireAtMillis(long address) {
        return TimedHashes.expireAtMillis(address);
    }

    /** Passes the items to the target before they change, or as {@link ShardCapture#visitNext} is called. */
    public void beginCapture(ItemCapture target, long nowMillis) {
        capture = new ShardCapture(items, context, target, nowMillis);
        items.cleaning().beforeDemotions(capture::leaving);
    }

    /** The cells that the scan has not visited; null if there is no scan, or it has visited all. */
    public @Nullable ShardCapture capture() {
        return capture;
    }

    /** Whether no scan needs the present state of a key. */
    public boolean isCaptured(Key key) {
        return capture == null || capture.isVisited(key);
    }

    public void endCapture() {
        capture = null;
        items.cleaning().beforeDemotions(null);
    }

    /** Must precede the first change of a key's item by a command. */
    public void aboutToChange(Key key) {
        if (capture != null) {
            capture.aboutToChange(key);
        }
    }

    // --- writes

    /**
     * Creates an item under the key, in place or appended.
     *
     * @param hint the penalty class, or {@link ShardPenalties#AUTOMATIC}
     * @param notifies whether listeners are notified if the key is new
     * @throws CacheFullException if there is no memory for it; the key is then unchanged
     */
    public void put(Key key, Item item, ItemType type, int encoding, int valueLength, int capacity,
            long expireAtMillis, int hint, long nowMillis, boolean notifies) {
        long expireAt = expireAt(key, expireAtMillis, nowMillis);
        long location = place(key, type, encoding, valueLength, capacity, expireAt, expireAt, hint, nowMillis,
                notifies);
        items.bind(item, location, items.address(location));
    }

    /** The expiry time that a key will have. */
    long expireAt(Key key, long expireAtMillis, long nowMillis) {
        if (expireAtMillis != KEEP) {
            return Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        }
        long location = locate(key, nowMillis);
        return location == Index.NONE ? Item.NEVER : TimedHashes.expireAtMillis(items.address(location));
    }

    /** {@link #put}, with the value's bytes. @return the address of the item */
    public long set(Key key, ItemType type, int encoding, long valueAddress, int valueLength, long expireAtMillis,
            int hint, long nowMillis) {
        long expireAt = expireAt(key, expireAtMillis, nowMillis);
        long examineAt = TimedHashes.examineAtMillis(type, encoding, valueAddress, valueLength, expireAt);
        long location = place(key, type, encoding, valueLength, valueLength, expireAt, examineAt, hint, nowMillis,
                true);
        long address = items.address(location);
        long header = ItemLayout.header(address);
        Memory.copy(valueAddress, ItemLayout.valueAddressOf(address, header), valueLength);
        if (TimedHashes.isTimedOf(address, header)) {
            TimedHashes.expireAtMillis(address, expireAt);
        }
        return address;
    }

    /**
     * Restores a demoted item, unless the key exists.
     *
     * @param access its access bits
     * @param penaltyClass its penalty class, or a negative number if it is unknown
     * @return whether it was restored
     */
    public boolean restore(Key key, ItemType type, int encoding, byte[] value, int from, int valueLength,
            long expireAtMillis, int access, int penaltyClass, long nowMillis) {
        if (locate(key, nowMillis) != Index.NONE) {
            return false;
        }
        boolean isTimed = type == ItemType.HASH && encoding == Item.TIMED;
        long expireAt = isTimed ? TimedHashLayout.expireAtMillis(value, from) : expireAtMillis;
        long examineAt = isTimed ? TimedHashes.examineAtMillis(value, from, valueLength, expireAt) : expireAt;
        long location = place(key, type, encoding, valueLength, valueLength, expireAt, examineAt,
                ShardPenalties.RESTORED, nowMillis, false);
        long address = items.address(location);
        items.access().restore(address, access);
        items.segments().penaltyClass(location,
                items.penalties().restored(key, penaltyClass, ItemLayout.penaltyClass(address)));
        Memory.copy(value, from, ItemLayout.valueAddress(address), valueLength);
        return true;
    }

    /**
     * @param examineAt {@code expireAt}, or the earlier time at which the cycle must examine the item
     * @param notifies whether listeners are notified if the key is new
     */
    private long place(Key key, ItemType type, int encoding, int valueLength, int capacity, long expireAt,
            long examineAt, int hint, long nowMillis, boolean notifies) {
        long location = locate(key, nowMillis);
        if (location != Index.NONE
                && rewriteIfItFits(key, location, type, encoding, valueLength, expireAt, examineAt, hint,
                        nowMillis)) {
            return location;
        }
        int penaltyClass = items.penalties().classOfWrite(key, classBefore(location), hint);
        int stamp = ItemLayout.stamp(accessOfNew(location, nowMillis), penaltyClass);
        long made = items.make(key.address(), key.length(), context.databases.physical(key.database()), type, encoding,
                valueLength, capacity, examineAt, stamp, nowMillis);
        items.link(key, location, made, expireAt != Item.NEVER, examineAt, nowMillis);
        items.penalties().written();
        if (notifies) {
            changes.notifyIfCreated(key, location);
        }
        return made;
    }

    /**
     * Overwrites all but the value's bytes of an item of the same key. @return false, with nothing written, if they do
     * not fit
     */
    private boolean rewriteIfItFits(Key key, long location, ItemType type, int encoding, int valueLength, long expireAt,
            long examineAt, int hint, long nowMillis) {
        long address = items.address(location);
        long header = ItemLayout.header(address);
        if (ItemLayout.isTreeOf(header) || !items.fitsInPlace(location, address, header, valueLength, examineAt)) {
            return false;
        }
        int before = ItemLayout.penaltyClassOf(header);
        int penaltyClass = items.penalties().classOfWrite(key, before, hint);
        items.rewrite(location, address, header, type, encoding, valueLength, expireAt, examineAt, nowMillis);
        if (penaltyClass != before) {
            items.segments().penaltyClass(location, penaltyClass);
        }
        items.penalties().written();
        return true;
    }

    /** The penalty class of a found item, or {@link ShardPenalties#NO_CLASS}. */
    int classBefore(long found) {
        return found == Index.NONE ? ShardPenalties.NO_CLASS : ItemLayout.penaltyClass(items.address(found));
    }

    int accessOfNew(long found, long nowMillis) {
        return found == Index.NONE
                ? items.access().initial(nowMillis)
                : items.access().replacing(items.address(found), nowMillis);
    }

    /** Changes the length of a found item's value, in place or moved; the bytes up to the shorter length stay. */
    public void resize(Key key, Item item, int encoding, int valueLength, int capacity, long nowMillis) {
        long location = item.location();
        long address = item.address();
        if (items.fitsInPlace(location, address, valueLength, ItemLayout.expireAtMillis(address))) {
            items.resizeInPlace(address, encoding, valueLength);
            items.bind(item, location, address);
            return;
        }
        if (largeValues.extend(location, address, encoding, valueLength)) {
            items.bind(item, location, address);
            return;
        }
        int kept = Math.min(valueLength, item.valueLength());
        long made;
        try {
            made = makeResized(item, encoding, valueLength, capacity, nowMillis);
        } catch (CacheFullException full) {
            // A caller that shortens a value has already changed its bytes. It must not fail, so the value stays in
            // place with slack.
            if (!items.canStayInPlace(location, address, valueLength)) {
                throw full;
            }
            items.resizeInPlace(address, encoding, valueLength);
            items.bind(item, location, address);
            return;
        }
        Memory.copy(ItemLayout.valueAddress(address), ItemLayout.valueAddress(items.address(made)), kept);
        items.replace(key.hash(), location, made);
        items.bind(item, made, items.address(made));
    }

    /** Creates the item with the capacity if there is memory for it, else without spare capacity. */
    private long makeResized(Item item, int encoding, int valueLength, int capacity, long nowMillis) {
        long address = item.address();
        try {
            return items.make(item.keyAddress(), item.keyLength(), ItemLayout.database(address), item.type(), encoding,
                    valueLength, capacity, ItemLayout.expireAtMillis(address), ItemLayout.stamp(address), nowMillis);
        } catch (CacheFullException full) {
            if (capacity == valueLength) {
                throw full;
            }
            return items.make(item.keyAddress(), item.keyLength(), ItemLayout.database(address), item.type(), encoding,
                    valueLength, valueLength, ItemLayout.expireAtMillis(address), ItemLayout.stamp(address),
                    nowMillis);
        }
    }

    public void encoding(Item item, int encoding) {
        ItemLayout.encoding(item.address(), encoding);
        items.bind(item, item.location(), item.address());
    }

    /** Deletes the key; false if it did not exist. */
    public boolean delete(Key key, long nowMillis) {
        long location = locate(key, nowMillis);
        if (location == Index.NONE) {
            return false;
        }
        int physical = context.databases.physical(key.database());
        items.index(physical).removeFound();
        items.releaseItem(location, items.address(location), physical, Change.DELETED, true);
        return true;
    }

    /** Deletes a key that exists, even if it has expired. */
    void deleteAnyway(Key key) {
        int physical = context.databases.physical(key.database());
        long location = items.index(physical).find(key.hash(), key.address(), key.length());
        assert location != Index.NONE : "the key does not exist";
        items.index(physical).removeFound();
        items.releaseItem(location, items.address(location), physical, Change.DELETED, true);
    }

    /** {@link ShardPenalties#classOfWrite} for a write to a key and its present item, if any. */
    int classOfWrite(Key key, int hint, long nowMillis) {
        long location = locate(key, nowMillis);
        return items.penalties().classOfWrite(key, classBefore(location), hint);
    }

    /** Sets the penalty class of a found item. */
    public void penaltyClass(Item item, int penaltyClass) {
        items.segments().penaltyClass(item.location(), penaltyClass);
    }

    /** Bytes of the live items of a class, nodes of collections included. */
    public long classBytes(int penaltyClass) {
        return items.segments().classBytes(penaltyClass);
    }

    // --- components

    /** The penalties and classes of its keys. */
    public ShardPenalties penalties() {
        return items.penalties();
    }

    /** The access bits of its items. */
    public ItemAccess access() {
        return items.access();
    }

    /** Its pinned items. */
    public ShardPins pins() {
        return items.pins();
    }

    /** Its keys by database. */
    public ShardKeyspace keyspace() {
        return keyspace;
    }

    /** Its large collections. */
    public ShardCollections collections() {
        return collections;
    }

    /** The expiry times of its keys. */
    public KeyExpiry keyExpiry() {
        return keyExpiry;
    }

    /** Its values in runs of their own. */
    public LargeValues largeValues() {
        return largeValues;
    }

    /** Its cleaner and evictor. */
    public ShardCleaner cleaner() {
        return cleaner;
    }

    /** Its maintenance work. */
    public ShardUpkeep upkeep() {
        return upkeep;
    }

    /** The remaining lifetimes of its expiring items. */
    public Lifetimes lifetimes() {
        return lifetimes;
    }

    /** Reclaims flushed databases, and frees the nodes of deleted collections. */
    public ShardReclaim reclaim() {
        return reclaim;
    }

    /** Demotes the items of a class. */
    public ShardDemotion demotion() {
        return demotion;
    }

    // --- counters and state

    public void resetStats() {
        hits = 0;
        misses = 0;
        items.resetStats();
        cleaner.resetStats();
    }

    public int number() {
        return items.number();
    }

    /** Assigns the change its sequence number and notifies the listeners. All changes go through this method. */
    public void changed(Change change, int logicalDatabase, long keyAddress, int keyLength) {
        changes.changed(change, logicalDatabase, keyAddress, keyLength);
    }

    /** Frees all memory. */
    public void release() {
        items.release();
    }

    ShardItems items() {
        return items;
    }
}
