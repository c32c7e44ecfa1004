package io.varve.memory.shard;

import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;
import org.jspecify.annotations.Nullable;

/**
 * The unit of ownership: a part of the key space with its index, its segments and its expiry. Guarded by
 * {@link #lock}; every method but {@link #indexLine} and {@link #suggestedItem} asks for it.
 *
 * <p>What it decides is the order in which rooms act when a key is looked up, written or deleted. The steps themselves are those of {@link ShardItems}.
 */
public final class Shard {
    /** An expiry time of {@code put} that means: what the key has. */
    public static final long KEEP = -2;
    /** The load at which an index doubles, of the shard that doubles last... */
    public static final double MAX_INDEX_LOAD = 0.87;
    /**
     * ... and how far the others are ahead of it at the most: so that they double one after the other while a cache grows slowly
     * enough for maintenance to move the entries of one before the next begins. No more, because a table that doubles earlier
     * than it must is half empty for longer.
     */
    public static final double INDEX_LOAD_STAGGER = 0.05;
    /** Naps for {@link #lockWithin}: half a millisecond, longer than a slice of maintenance. Who holds a shard for longer has work that takes long. */
    public static final int PATIENCE_NAPS = 7;
    static final int INDEX_SHARE = Index
            .bytesPerItem(MAX_INDEX_LOAD - INDEX_LOAD_STAGGER / 2);
    private static final int BESIDE_CONTENT = ItemLayout.size(0, 0, false) + INDEX_SHARE;
    private static final int WITH_EXPIRY = ItemLayout.EXPIRY_BYTES + Expiry.BYTES_PER_ENTRY;

    private final ShardLock lock = new ShardLock();
    private final ShardContext context;
    private final ShardItems items;
    private final ShardCleaner cleaner;
    private final LargeValues largeValues;
    private final ShardCollections collections;
    private final ShardKeyspace keyspace;
    private final ShardUpkeep upkeep;
    private final Lifetimes lifetimes;
    private final ShardReclaim reclaim;
    private final ShardDump dump;
    private long hits;
    private long misses;

    public Shard(int number, ShardContext context, int heads, double growLoad, ExpireAlgorithm algorithm,
            int expireBaseMillis, int expireBuckets) {
        this.context = context;
        this.items = new ShardItems(number, context, lock, heads, growLoad, algorithm, expireBaseMillis, expireBuckets);
        this.cleaner = new ShardCleaner(items, context);
        largeValues = new LargeValues(this, context);
        this.collections = new ShardCollections(this, context);
        this.keyspace = new ShardKeyspace(items, context);
        this.upkeep = new ShardUpkeep(items);
        this.lifetimes = new Lifetimes(items, context);
        this.reclaim = new ShardReclaim(items, context, cleaner);
        this.dump = new ShardDump(items, context);
    }

    // --- lock

    public void lock() {
        lock.lock();
    }

    public boolean tryLock() {
        return lock.tryLock();
    }

    /**
     * Locks it unless another thread has it for long; false if so.
     *
     * @param naps   how often the caller sleeps for it, for some 70 microseconds each; 0: not at all; -1: it does not even look again
     * @param called whether the caller was called as one who {@link #want wanted} it
     */
    public boolean lockWithin(int naps, boolean called) {
        return lock.lockWithin(naps, called);
    }

    /** Has something run by a thread that unlocks it, once, while it may hold other shards: at the next time, or at one soon after it. */
    public void want(Runnable call) {
        lock.want(call);
    }

    /** By who has it: it is reserved again for those who were called last, and others who want it are not called yet. */
    public void keepReserved() {
        lock.keepReserved();
    }

    /** Who was called does not want it any more: it is reserved for those who are called now, or for nobody. */
    public void forgo() {
        lock.forgo();
    }

    /** Whether anybody could lock it: the answer may be late. */
    public boolean isFree() {
        return lock.isFree();
    }

    /** Whether a thread has it: the answer may be late. */
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

    // --- hints (no lock)

    /** Where the key's index line is; always an address that can be read. */
    public long indexLine(Key key) {
        Index index = items.indexOrNull(context.databases.physical(key.database()));
        return index == null ? context.pool.segmentAddress(0) : index.lineAddress(key.hash());
    }

    /** Where the item is that the index line suggests; whatever is there now, it can be read. */
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

    // --- look

    /**
     * Finds an item for reading: a hit or a miss.
     *
     * @param awaitFill whether a miss begins to wait for the write that fills it
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

    /** How often {@link #find} has found. */
    public long hits() {
        return hits;
    }

    /** How often it has not. */
    public long misses() {
        return misses;
    }

    /** Forgets hits and misses beyond these: what was looked for is going to be looked for again. */
    public void counted(long hitsBefore, long missesBefore) {
        assert isLockedByMe() && hitsBefore <= hits && missesBefore <= misses : "more were counted before";
        hits = hitsBefore;
        misses = missesBefore;
    }

    /** Tells that a key was looked for in vain. */
    public void tellMissed(Key key) {
        items.tellMissed(key);
    }

    /** Finds an item and counts nothing. */
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
        items.look(item, location, address, header);
        return true;
    }

    public boolean peek(Key key, Item item, long nowMillis) {
        long location = locate(key, nowMillis);
        if (location == Index.NONE) {
            return false;
        }
        look(item, location, items.address(location));
        return true;
    }

    /** The location of the key's item, which the index remembers as found; an expired item is removed and not found. */
    long locate(Key key, long nowMillis) {
        assert isLockedByMe();
        int physical = context.databases.physical(key.database());
        Index index = items.indexOrNull(physical);
        if (index == null) {
            return Index.NONE;
        }
        long location = index.find(key.hash(), key.address(), key.length());
        if (location != Index.NONE
                && ShardItems.isPast(ItemLayout.expireAtMillis(items.address(location)), nowMillis)
                && items.expireFound(index, location, physical, nowMillis)) {
            return Index.NONE;
        }
        return location;
    }

    private void look(Item item, long location, long address) {
        items.look(item, location, address);
    }

    /**
     * Bytes of the item itself, of its nodes if it is a large collection, of its slot in the index and of its expiry entry: the same
     * in a full cache as alone.
     */
    public long memoryUsage(Item item) {
        long indexShare = items.index(ItemLayout.database(item.address())).bytesPerItem();
        long expiryShare = ItemLayout.expireAtMillis(item.address()) == Item.NEVER ? 0 : Expiry.BYTES_PER_ENTRY;
        long nodeBytes = item.isTree() ? ShardTrees.nodeBytes(item.address()) : 0;
        LargeRun run = Location.isLarge(item.location()) ? context.pool.largeItems().run(item.location()) : null;
        return (run == null ? ItemLayout.size(item.address()) : run.chargedBytes()) + nodeBytes + indexShare
                + expiryShare;
    }

    /**
     * Bytes that an item of a short key takes in a segment, in the index and for its expiry, which is what most take: quickly told, and the same for a value in a
     * run of its own as in a segment.
     */
    public static long usualBytes(int keyLength, int capacity, boolean expires) {
        return (long) BESIDE_CONTENT + keyLength + capacity + (expires ? WITH_EXPIRY : 0);
    }

    /** When the key of the item at an address expires, or {@link Item#NEVER}. */
    public static long expireAtMillis(long address) {
        return TimedHashes.expireAtMillis(address);
    }

    public @Nullable ValueRun runOf(Item item) {
        return Location.isLarge(item.location()) ? context.pool.largeItems().run(item.location()) : null;
    }

    // --- write

    /**
     * Makes an item under the key, in place or appended.
     *
     * @param hint  the class of penalty, or {@link ShardPenalties#AUTOMATIC}
     * @param tells whether a key that was not there is told of as one that has come
     * @throws CacheFullException if there is no memory for it; the key is then as it was
     */
    public void put(Key key, Item item, ItemType type, int encoding, int valueLength, int capacity,
            long expireAtMillis, int hint, long nowMillis, boolean tells) {
        long expireAt = expireAt(key, expireAtMillis, nowMillis);
        long location = place(key, type, encoding, valueLength, capacity, expireAt, expireAt, hint, nowMillis, tells);
        look(item, location, items.address(location));
    }

    /** The expiry time that a key is to have. */
    long expireAt(Key key, long expireAtMillis, long nowMillis) {
        if (expireAtMillis != KEEP) {
            return Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        }
        long location = locate(key, nowMillis);
        return location == Index.NONE ? Item.NEVER : TimedHashes.expireAtMillis(items.address(location));
    }

    /** {@link #put}, and the value's bytes. @return where the item is */
    public long set(Key key, ItemType type, int encoding, long valueAddress, int valueLength, long expireAtMillis,
            int hint, long nowMillis) {
        long expireAt = expireAt(key, expireAtMillis, nowMillis);
        long lookAt = TimedHashes.lookAtMillis(type, encoding, valueAddress, valueLength, expireAt);
        long location = place(key, type, encoding, valueLength, valueLength, expireAt, lookAt, hint, nowMillis, true);
        long address = items.address(location);
        long header = ItemLayout.header(address);
        Memory.copy(valueAddress, ItemLayout.valueAddressOf(address, header), valueLength);
        if (TimedHashes.isTimedOf(address, header)) {
            TimedHashes.expireAtMillis(address, expireAt);
        }
        return address;
    }

    /**
     * Makes an item as it was when it fell to the tier below, unless the key is there.
     *
     * @param access       its access bits
     * @param penaltyClass its class of penalty, or less than 0 if that is not known
     * @return whether it was made
     */
    public boolean restore(Key key, ItemType type, int encoding, byte[] value, int from, int valueLength,
            long expireAtMillis, int access, int penaltyClass, long nowMillis) {
        if (locate(key, nowMillis) != Index.NONE) {
            return false;
        }
        boolean isTimed = type == ItemType.HASH && encoding == Item.TIMED;
        long expireAt = isTimed ? TimedHashLayout.expireAtMillis(value, from) : expireAtMillis;
        long lookAt = isTimed ? TimedHashes.lookAtMillis(value, from, valueLength, expireAt) : expireAt;
        long location = place(key, type, encoding, valueLength, valueLength, expireAt, lookAt, ShardPenalties.RESTORED,
                nowMillis, false);
        long address = items.address(location);
        items.access().restore(address, access);
        items.segments().penaltyClass(location,
                items.penalties().restored(key, penaltyClass, ItemLayout.penaltyClass(address)));
        Memory.copy(value, from, ItemLayout.valueAddress(address), valueLength);
        return true;
    }

    /**
     * @param lookAt {@code expireAt}, or when the item is to be looked at before
     * @param tells  whether a key that was not there is told of as one that has come
     */
    private long place(Key key, ItemType type, int encoding, int valueLength, int capacity, long expireAt, long lookAt,
            int hint, long nowMillis, boolean tells) {
        long location = locate(key, nowMillis);
        if (location != Index.NONE
                && rewriteIfItFits(key, location, type, encoding, valueLength, expireAt, lookAt, hint,
                        nowMillis)) {
            return location;
        }
        int penaltyClass = items.penalties().classOfWrite(key, classBefore(location), hint);
        int stamp = ItemLayout.stamp(accessOfNew(location, nowMillis), penaltyClass);
        long made = items.make(key.address(), key.length(), context.databases.physical(key.database()), type, encoding,
                valueLength, capacity, lookAt, stamp, nowMillis);
        items.link(key, location, made, expireAt != Item.NEVER, lookAt, nowMillis);
        items.penalties().written();
        if (tells) {
            items.tellIfCreated(key, location);
        }
        return made;
    }

    /** Writes all but the value's bytes over an item of the same key. @return false if they do not fit: nothing is written then */
    private boolean rewriteIfItFits(Key key, long location, ItemType type, int encoding, int valueLength, long expireAt,
            long lookAt, int hint, long nowMillis) {
        long address = items.address(location);
        long header = ItemLayout.header(address);
        if (ItemLayout.isTreeOf(header) || !items.fitsInPlace(location, address, header, valueLength, lookAt)) {
            return false;
        }
        int before = ItemLayout.penaltyClassOf(header);
        int penaltyClass = items.penalties().classOfWrite(key, before, hint);
        items.rewrite(location, address, header, type, encoding, valueLength, expireAt, lookAt, nowMillis);
        if (penaltyClass != before) {
            items.segments().penaltyClass(location, penaltyClass);
        }
        items.penalties().written();
        return true;
    }

    /** The class of a found item, or that there is none. */
    private int classBefore(long found) {
        return found == Index.NONE ? ShardPenalties.NO_CLASS : ItemLayout.penaltyClass(items.address(found));
    }

    int accessOfNew(long found, long nowMillis) {
        return found == Index.NONE
                ? items.access().initial(nowMillis)
                : items.access().replacing(items.address(found), nowMillis);
    }

    /** {@link #put} for a value that is already in a run, whose hold passes to the item. */
    public void putRun(Key key, Item item, LargeRun run, int encoding, long expireAtMillis, int hint, long nowMillis) {
        if (run.headRoom() < ItemLayout.largeHeadRoom(key.length())) {
            throw new IllegalArgumentException("A run with " + run.headRoom()
                    + " bytes in front of its value has no room for a key of " + key.length());
        }
        putRun(key, item, run, ItemType.STRING, encoding, run.length(), run.length(), expireAtMillis, hint, nowMillis,
                true);
    }

    /** The same for a value of any type that is as long as it says. Its capacity is not less than its length. */
    void putRun(Key key, Item item, LargeRun run, ItemType type, int encoding, int valueLength, int capacity,
            long expireAtMillis, int hint, long nowMillis, boolean tells) {
        long expireAt = expireAt(key, expireAtMillis, nowMillis);
        long location = locate(key, nowMillis);
        int penaltyClass = items.penalties().classOfWrite(key, classBefore(location), hint);
        long made = items.adopt(run, key.address(), key.length(), context.databases.physical(key.database()),
                type, encoding, valueLength, capacity, expireAt,
                ItemLayout.stamp(accessOfNew(location, nowMillis), penaltyClass));
        items.link(key, location, made, expireAt != Item.NEVER, expireAt, nowMillis);
        items.penalties().written();
        if (tells) {
            items.tellIfCreated(key, location);
        }
        look(item, made, items.address(made));
    }

    /** Gives a found item's value another length, in place or moved; the bytes both have stay. */
    public void resize(Key key, Item item, int encoding, int valueLength, int capacity, long nowMillis) {
        long location = item.location();
        long address = item.address();
        if (items.fitsInPlace(location, address, valueLength, ItemLayout.expireAtMillis(address))) {
            items.resizeInPlace(address, encoding, valueLength);
            look(item, location, address);
            return;
        }
        if (largeValues.extend(location, address, encoding, valueLength)) {
            look(item, location, address);
            return;
        }
        int kept = Math.min(valueLength, item.valueLength());
        long made;
        try {
            made = makeResized(item, encoding, valueLength, capacity, nowMillis);
        } catch (CacheFullException full) {
            // Who makes a value shorter has changed its bytes already: it must not fail, and wastes room instead.
            if (!items.canLieInPlace(location, address, valueLength)) {
                throw full;
            }
            items.resizeInPlace(address, encoding, valueLength);
            look(item, location, address);
            return;
        }
        Memory.copy(ItemLayout.valueAddress(address), ItemLayout.valueAddress(items.address(made)), kept);
        items.replace(key.hash(), location, made);
        look(item, made, items.address(made));
    }

    /** With the capacity if there is room for it, else with none to grow. */
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
        look(item, item.location(), item.address());
    }

    /** Deletes the key; false if it was not there. */
    public boolean delete(Key key, long nowMillis) {
        long location = locate(key, nowMillis);
        if (location == Index.NONE) {
            return false;
        }
        int physical = context.databases.physical(key.database());
        items.index(physical).removeFound();
        items.letGo(location, items.address(location), physical, Change.DELETED, true);
        return true;
    }

    /** Deletes a key that is there, whatever its time is. */
    void deleteAnyway(Key key) {
        int physical = context.databases.physical(key.database());
        long location = items.index(physical).find(key.hash(), key.address(), key.length());
        assert location != Index.NONE : "the key has gone";
        items.index(physical).removeFound();
        items.letGo(location, items.address(location), physical, Change.DELETED, true);
    }

    /** Sets a found item's expiry time or takes it away; may move the item. */
    public void expire(Key key, Item item, long expireAtMillis, long nowMillis) {
        long expireAt = Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        boolean expired = item.expires();
        boolean isTimed = TimedHashes.isTimed(item.address());
        boolean counted = TimedHashes.countsAsTimed(item.address());
        long lookAt = isTimed ? items.timed().lookAtMillis(item.address(), expireAt) : expireAt;
        lookAt(key, item, lookAt, nowMillis);
        items.expires(item.address(), expired, expireAt != Item.NEVER);
        if (isTimed) {
            items.timed().count(item.address(), counted, TimedHashes.countsAsTimed(item.address()));
            TimedHashes.expireAtMillis(item.address(), expireAt);
            look(item, item.location(), item.address());
        }
    }

    /** Has a found item looked at at another time; may move it. */
    void lookAt(Key key, Item item, long millis, long nowMillis) {
        long location = item.location();
        if (!ItemLayout.hasExpiryFields(item.address()) && millis != Item.NEVER) {
            location = items.withExpiryFields(key, item, millis, nowMillis);
        }
        items.changeExpiry(location, items.address(location), millis, nowMillis);
        look(item, location, items.address(location));
    }

    /** {@link ShardPenalties#classOfWrite} of a write to whatever is under a key. */
    int classOfWrite(Key key, int hint, long nowMillis) {
        long location = locate(key, nowMillis);
        return items.penalties().classOfWrite(key, classBefore(location), hint);
    }

    /** Puts a found item into a class of penalty. */
    public void penaltyClass(Item item, int penaltyClass) {
        items.segments().penaltyClass(item.location(), penaltyClass);
    }

    /** Bytes of the live items of a class, nodes of collections with them. */
    public long classBytes(int penaltyClass) {
        return items.segments().classBytes(penaltyClass);
    }

    // --- its rooms

    /** What is known of the penalties of its keys. */
    public ShardPenalties penalties() {
        return items.penalties();
    }

    /** The access bits of its items. */
    public ItemAccess access() {
        return items.access();
    }

    /** Its keys by database. */
    public ShardKeyspace keyspace() {
        return keyspace;
    }

    /** The shard's large collections. */
    public ShardCollections collections() {
        return collections;
    }

    /** Its values in runs of their own. */
    public LargeValues largeValues() {
        return largeValues;
    }

    /** A slice of cleaning or evicting. */
    public ShardCleaner cleaner() {
        return cleaner;
    }

    /** What maintenance does here when its time has come. */
    public ShardUpkeep upkeep() {
        return upkeep;
    }

    /** How long items that expire have left. */
    public Lifetimes lifetimes() {
        return lifetimes;
    }

    /** Lets go of what was flushed, and of what is left of collections that have gone. */
    public ShardReclaim reclaim() {
        return reclaim;
    }

    /** Has the items of a class fall. */
    public ShardDump dump() {
        return dump;
    }

    // --- facts

    public void resetStats() {
        hits = 0;
        misses = 0;
        items.resetStats();
        cleaner.resetStats();
    }

    public int number() {
        return items.number();
    }

    /** The one door for change: gives the change its number and tells who listens. */
    public void changed(Change change, int logicalDatabase, long keyAddress, int keyLength) {
        items.changed(change, logicalDatabase, keyAddress, keyLength);
    }

    /** Gives all memory back. */
    public void release() {
        items.release();
    }

    ShardItems items() {
        return items;
    }
}
