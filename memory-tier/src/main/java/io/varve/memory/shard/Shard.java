package io.varve.memory.shard;

import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.memory.eviction.AccessBits;
import io.varve.memory.expiry.CycleStatus;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.expiry.Expiry;
import io.varve.memory.expiry.ExpiryOwner;
import io.varve.memory.index.Index;
import io.varve.memory.index.KeyVerifier;
import io.varve.memory.index.LocationVisitor;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;
import org.jspecify.annotations.Nullable;

/**
 * The unit of ownership: a part of the key space with its index, its segments and its expiry. Guarded by
 * {@link #lock}; every method but {@link #touchIndex} and {@link #touchItem} asks for it.
 *
 * <p>What it decides is the order in which rooms act. A write first takes what may be refused (bytes, an expiry entry, an
 * index slot) and only then lets go of what it replaces, so that a refusal leaves the key as it was. A removal tells the
 * listeners while the key's bytes are still there, and marks the item dead last, because that may free its segment.
 *
 * <p>INVARIANT: an item is live if and only if one index slot holds its location; it has an expiry entry if and only if
 * it has an expiry time; the entry and the item point at each other.
 */
public final class Shard {
    /** An expiry time of {@code put} that means: what the key has. */
    public static final long KEEP = -2;
    /** The load at which an index doubles: of the shard that doubles last, and how far the others are ahead of it. */
    public static final double MAX_INDEX_LOAD = 0.87;
    public static final double INDEX_LOAD_STAGGER = 0.12;
    /** A value may lie in place of a larger one if it wastes no more than this many bytes or half of them. */
    private static final int SLACK_BYTES = 32;
    /** Home buckets reclaimed in one slice at most, and between two readings of the clock. */
    private static final int RECLAIM_BUCKETS = 256;
    private static final int BUCKETS_PER_CLOCK = 8;

    private final ReentrantLock lock = new ReentrantLock();
    private final int number;
    private final ShardContext context;
    private final double growLoad;
    private final Index[] indexes = new Index[Databases.PHYSICAL];
    private final long[] expiringItems = new long[Databases.PHYSICAL];
    /** How far the reclaiming of a detached database has come. */
    private final long[] reclaimCursor = new long[Databases.PHYSICAL];
    private final long[] doomed = new long[64];
    private int doomedCount;
    private final Segments segments;
    private final Expiry expiry;
    private final KeyVerifier verifier;
    private final ShardCleaner cleaner;

    private long sequence;
    private final SplittableRandom random;
    private long datasetBytes;
    private long hits;
    private long misses;
    private long expired;
    private long evicted;

    public Shard(int number, ShardContext context, int heads, double growLoad, ExpireAlgorithm algorithm,
            int expireBaseMillis, int expireBuckets) {
        this.number = number;
        this.context = context;
        this.growLoad = growLoad;
        this.random = new SplittableRandom(number);
        this.segments = new Segments(context.pool, heads);
        this.verifier = new ItemsByLocation(context);
        this.expiry = Expiry.create(algorithm, expireBaseMillis, expireBuckets, context.regions, context.budget,
                context.ticker, new Expirer());
        this.cleaner = new ShardCleaner(this, context, segments);
    }

    // --- lock

    public void lock() {
        lock.lock();
    }

    public boolean tryLock() {
        return lock.tryLock();
    }

    public void unlock() {
        lock.unlock();
    }

    boolean lockedByMe() {
        return lock.isHeldByCurrentThread();
    }

    // --- hints (no lock)

    /** Reads the key's index line ahead of use. */
    public long touchIndex(Key key) {
        Index index = indexes[context.databases.physical(key.database())];
        return index == null ? 0 : index.touch(key.hash());
    }

    /** Reads the item that the index line suggests ahead of use; whatever is there now, it is mapped memory. */
    public long touchItem(Key key) {
        Index index = indexes[context.databases.physical(key.database())];
        if (index == null) {
            return 0;
        }
        long location = index.suggest(key.hash());
        return location == Index.NONE || Location.isLarge(location) || !context.pool.holds(location)
                ? 0
                : Memory.getLong(context.pool.address(location));
    }

    // --- look

    /** Finds an item for reading: a hit or a miss. */
    public boolean find(Key key, Item item, long nowMillis, boolean touch) {
        boolean found = findForWriting(key, item, nowMillis, touch);
        if (found) {
            hits++;
        } else {
            misses++;
        }
        return found;
    }

    /** Finds an item and counts nothing. */
    public boolean findForWriting(Key key, Item item, long nowMillis, boolean touch) {
        long location = locate(key, nowMillis);
        if (location == Index.NONE) {
            return false;
        }
        long address = address(location);
        if (touch) {
            touchAccess(address, nowMillis);
        }
        look(item, location, address);
        return true;
    }

    public boolean peek(Key key, Item item, long nowMillis) {
        long location = locate(key, nowMillis);
        if (location == Index.NONE) {
            return false;
        }
        look(item, location, address(location));
        return true;
    }

    /** The location of the key's item, which the index remembers as found; an expired item is removed and not found. */
    private long locate(Key key, long nowMillis) {
        assert lockedByMe();
        int physical = context.databases.physical(key.database());
        Index index = indexes[physical];
        if (index == null) {
            return Index.NONE;
        }
        long location = index.find(key.hash(), key.address(), key.length());
        if (location != Index.NONE && isPast(ItemLayout.expireAtMillis(address(location)), nowMillis)) {
            index.removeFound();
            expired++;
            letGo(location, address(location), physical, Change.EXPIRED, true);
            return Index.NONE;
        }
        return location;
    }

    static boolean isPast(long expireAtMillis, long nowMillis) {
        return expireAtMillis != Item.NEVER && nowMillis > expireAtMillis;
    }

    void look(Item item, long location, long address) {
        item.look(location, address, ItemType.ofCode(ItemLayout.type(address)), ItemLayout.encoding(address),
                ItemLayout.keyAddress(address), ItemLayout.keyLength(address), ItemLayout.valueAddress(address),
                ItemLayout.valueLength(address), ItemLayout.capacity(address), ItemLayout.expireAtMillis(address));
    }

    private void touchAccess(long address, long nowMillis) {
        int bits = ItemLayout.access(address);
        int touched = AccessBits.touched(context.evictionPolicy, bits, nowMillis, nextRandom());
        if (touched != bits) {
            ItemLayout.access(address, touched);
        }
    }

    /** {@link AccessBits#idleMillis}, or -1 if the policy keeps a frequency. */
    public long idleMillis(Item item, long nowMillis) {
        return context.evictionPolicy.countsFrequency()
                ? -1
                : AccessBits.idleMillis(ItemLayout.access(item.address()), nowMillis);
    }

    /** {@link AccessBits#frequency}, or -1 if the policy keeps a clock. */
    public int frequency(Item item, long nowMillis) {
        return context.evictionPolicy.countsFrequency()
                ? AccessBits.frequency(ItemLayout.access(item.address()), nowMillis)
                : -1;
    }

    /** Bytes of the item itself, of its slot in the index and of its expiry entry: the same in a full cache as alone. */
    public long memoryUsage(Item item) {
        long indexShare = index(ItemLayout.database(item.address())).bytesPerItem();
        long expiryShare = item.expires() ? Expiry.BYTES_PER_ENTRY : 0;
        LargeRun run = Location.isLarge(item.location()) ? context.pool.largeItems().run(item.location()) : null;
        return (run == null ? ItemLayout.size(item.address()) : run.chargedBytes()) + indexShare + expiryShare;
    }

    public @Nullable ValueRun runOf(Item item) {
        return Location.isLarge(item.location()) ? context.pool.largeItems().run(item.location()) : null;
    }

    // --- write

    /**
     * Makes an item under the key, in place or appended.
     *
     * @throws CacheFullException if there is no memory for it; the key is then as it was
     */
    public void put(Key key, Item item, ItemType type, int encoding, int valueLength, int capacity,
            long expireAtMillis, long nowMillis) {
        long location = locate(key, nowMillis);
        long address = location == Index.NONE ? 0 : address(location);
        long expireAt = expireAtMillis == KEEP
                ? location == Index.NONE ? Item.NEVER : ItemLayout.expireAtMillis(address)
                : Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        if (location != Index.NONE && fitsInPlace(location, address, valueLength, expireAt)) {
            rewrite(location, address, type, encoding, valueLength, expireAt, nowMillis);
            look(item, location, address);
            return;
        }
        int access = AccessBits.initial(context.evictionPolicy, nowMillis);
        long made = make(key.address(), key.length(), context.databases.physical(key.database()), type, encoding,
                valueLength, capacity, expireAt, access, nowMillis);
        link(key, location, made, expireAt, nowMillis);
        look(item, made, address(made));
    }

    /** {@link #put} for a value that is already in a run, whose hold passes to the item. */
    public void putRun(Key key, Item item, LargeRun run, int encoding, long expireAtMillis, long nowMillis) {
        long location = locate(key, nowMillis);
        long expireAt = expireAtMillis == KEEP
                ? location == Index.NONE ? Item.NEVER : ItemLayout.expireAtMillis(address(location))
                : Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        long made = adopt(run, key.address(), key.length(), context.databases.physical(key.database()),
                ItemType.STRING, encoding, run.length(), run.length(), expireAt,
                AccessBits.initial(context.evictionPolicy, nowMillis));
        link(key, location, made, expireAt, nowMillis);
        look(item, made, address(made));
    }

    /** Gives a found item's value another length, in place or moved; the bytes both have stay. */
    public void resize(Key key, Item item, int encoding, int valueLength, int capacity, long nowMillis) {
        long location = item.location();
        long address = item.address();
        if (fitsInPlace(location, address, valueLength, item.expireAtMillis())) {
            datasetBytes += valueLength - ItemLayout.valueLength(address);
            ItemLayout.valueLength(address, valueLength);
            ItemLayout.encoding(address, encoding);
            look(item, location, address);
            return;
        }
        int kept = Math.min(valueLength, item.valueLength());
        long made = make(item.keyAddress(), item.keyLength(), ItemLayout.database(address), item.type(), encoding,
                valueLength, capacity, item.expireAtMillis(), ItemLayout.access(address), nowMillis);
        Memory.copy(ItemLayout.valueAddress(address), ItemLayout.valueAddress(address(made)), kept);
        replace(key, location, made);
        look(item, made, address(made));
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
        index(physical).removeFound();
        letGo(location, address(location), physical, Change.DELETED, true);
        return true;
    }

    /** Sets a found item's expiry time or takes it away; may move the item. */
    public void expire(Key key, Item item, long expireAtMillis, long nowMillis) {
        long expireAt = Math.min(expireAtMillis, ItemLayout.MAX_EXPIRE_AT_MILLIS);
        long location = item.location();
        if (!ItemLayout.hasExpiryFields(item.address()) && expireAt != Item.NEVER) {
            location = withExpiryFields(key, item, expireAt, nowMillis);
        }
        changeExpiry(location, address(location), expireAt, nowMillis);
        look(item, location, address(location));
    }

    /** The one door for change: gives the change its number and tells who listens. */
    public void changed(Change change, int logicalDatabase, long keyAddress, int keyLength) {
        assert lockedByMe();
        sequence++;
        ChangeListener[] listeners = context.listeners;
        if (listeners.length != 0) {
            tell(listeners, change, logicalDatabase, keyAddress, keyLength);
        }
    }

    private void tell(ChangeListener[] listeners, Change change, int logicalDatabase, long keyAddress, int keyLength) {
        for (ChangeListener listener : listeners) {
            listener.changed(change, number, sequence, logicalDatabase, keyAddress, keyLength);
        }
    }

    // --- the steps of a write

    private boolean fitsInPlace(long location, long address, int valueLength, long expireAt) {
        int capacity = ItemLayout.capacity(address);
        if (valueLength > capacity || expireAt != Item.NEVER && !ItemLayout.hasExpiryFields(address)) {
            return false;
        }
        int slack = capacity - valueLength;
        if (slack > SLACK_BYTES && slack > capacity / 2) {
            return false;
        }
        // A reply in flight may still be reading a run that it shares.
        return !Location.isLarge(location) || !context.pool.largeItems().run(location).isShared();
    }

    private void rewrite(long location, long address, ItemType type, int encoding, int valueLength, long expireAt,
            long nowMillis) {
        changeExpiry(location, address, expireAt, nowMillis);
        datasetBytes += valueLength - ItemLayout.valueLength(address);
        ItemLayout.type(address, type);
        ItemLayout.encoding(address, encoding);
        ItemLayout.valueLength(address, valueLength);
        touchAccess(address, nowMillis);
        if (expireAt == Item.NEVER) {
            segments.overwritten(location, nowMillis);
        }
    }

    /** Appends an item (or takes a run for it) and writes all of it but the value. Nothing refers to it yet. */
    private long make(long keyAddress, int keyLength, int physical, ItemType type, int encoding, int valueLength,
            int capacity, long expireAt, int access, long nowMillis) {
        boolean expires = expireAt != Item.NEVER;
        long size = ItemLayout.size(keyLength, capacity, expires);
        if (size >= context.largeThresholdBytes) {
            LargeRun run = context.pool.largeItems().allocate(ItemLayout.largeHeadRoom(keyLength), capacity);
            if (run == null) {
                context.refusedBytes.addAndGet(size);
                throw CacheFullException.INSTANCE;
            }
            return adopt(run, keyAddress, keyLength, physical, type, encoding, valueLength, capacity, expireAt,
                    access);
        }
        long location = append((int) size, expireAt, nowMillis);
        long address = address(location);
        ItemLayout.write(address, type, encoding, physical, keyLength, valueLength, capacity, expires, access);
        if (expires) {
            ItemLayout.expireAtMillis(address, expireAt);
        }
        Memory.copy(keyAddress, ItemLayout.keyAddress(address), keyLength);
        segments.born(location, (int) size, expireAt, nowMillis);
        datasetBytes += keyLength + valueLength;
        return location;
    }

    private static int lifetimeClass(long expireAt, long nowMillis) {
        return Segments.lifetimeClass(expireAt == Item.NEVER ? Item.NEVER : Math.max(0, expireAt - nowMillis));
    }

    private long append(int size, long expireAt, long nowMillis) {
        try {
            return segments.append(size, lifetimeClass(expireAt, nowMillis), nowMillis);
        } catch (CacheFullException full) {
            context.refusedBytes.addAndGet(size);
            throw full;
        }
    }

    private long adopt(LargeRun run, long keyAddress, int keyLength, int physical, ItemType type, int encoding,
            int valueLength, int capacity, long expireAt, int access) {
        // A large item always has expiry fields: its header cannot grow later, the value's place being fixed.
        long address = run.address() - (ItemLayout.size(keyLength, capacity, true) - capacity);
        ItemLayout.write(address, type, encoding, physical, keyLength, valueLength, capacity, true, access);
        ItemLayout.expireAtMillis(address, expireAt);
        Memory.copy(keyAddress, ItemLayout.keyAddress(address), keyLength);
        long location = context.pool.largeItems().adopt(run, address);
        datasetBytes += keyLength + valueLength;
        segments.born(location, ItemLayout.size(address), expireAt, 0);
        return location;
    }

    /** Puts a made item in the place of the one the index has just found, or into a new slot; undoes it if refused. */
    private void link(Key key, long found, long made, long expireAt, long nowMillis) {
        int physical = context.databases.physical(key.database());
        long address = address(made);
        boolean entered = false;
        try {
            if (expireAt != Item.NEVER) {
                ItemLayout.expiryEntry(address, expiry.add(made, expireAt, nowMillis));
                entered = true;
            }
            if (found != Index.NONE) {
                index(physical).replaceFound(made);
            } else {
                insert(indexForWriting(physical), key.hash(), made);
            }
        } catch (CacheFullException full) {
            context.refusedBytes.addAndGet(context.pool.segmentBytes());
            if (entered) {
                expiry.remove(ItemLayout.expiryEntry(address), expireAt);
            }
            discard(made, address);
            throw full;
        }
        if (entered) {
            expiringItems[physical]++;
        }
        if (found != Index.NONE) {
            letGo(found, address(found), physical, Change.DELETED, false);
        }
    }

    private void insert(Index index, long hash, long location) {
        index.insert(hash, location);
        long refused = index.takeRefusedBytes();
        if (refused > 0 && context.evictionPolicy.evicts()) {
            // Not added: the next insert asks for the same table again.
            context.refusedBytes.accumulateAndGet(refused, Math::max);
        }
    }

    /** Lets a moved copy take over index slot and expiry entry of the item it was made from. */
    private void replace(Key key, long old, long made) {
        long oldAddress = address(old);
        long address = address(made);
        boolean replaced = index(ItemLayout.database(address)).replace(key.hash(), old, made);
        assert replaced : "the index has lost " + old;
        if (ItemLayout.expireAtMillis(oldAddress) != Item.NEVER) {
            int entry = ItemLayout.expiryEntry(oldAddress);
            ItemLayout.expiryEntry(address, entry);
            expiry.relocate(entry, made);
        }
        discard(old, oldAddress);
    }

    /**
     * Makes room for the ten bytes of expiry fields: at the tail of an open head in place, else by a copy, which goes to
     * the head for its lifetime.
     */
    private long withExpiryFields(Key key, Item item, long expireAt, long nowMillis) {
        long location = item.location();
        int size = ItemLayout.size(item.address()) + ItemLayout.EXPIRY_BYTES;
        if (segments.extendTail(location, size, lifetimeClass(expireAt, nowMillis))) {
            ItemLayout.insertExpiryFields(item.address());
            return location;
        }
        try {
            return copyWithExpiryFields(key, item, expireAt, nowMillis);
        } catch (CacheFullException full) {
            if (!segments.extendTail(location, size)) {
                throw full;
            }
            ItemLayout.insertExpiryFields(item.address());
            return location;
        }
    }

    private long copyWithExpiryFields(Key key, Item item, long expireAt, long nowMillis) {
        long made = make(item.keyAddress(), item.keyLength(), ItemLayout.database(item.address()), item.type(),
                item.encoding(), item.valueLength(), item.capacity(), expireAt, ItemLayout.access(item.address()),
                nowMillis);
        long madeAddress = address(made);
        segments.expiryChanged(made, expireAt, Item.NEVER, nowMillis);
        ItemLayout.expireAtMillis(madeAddress, Item.NEVER);
        Memory.copy(item.valueAddress(), ItemLayout.valueAddress(madeAddress), item.valueLength());
        replace(key, item.location(), made);
        return made;
    }

    /** The item has expiry fields, or none is asked for. */
    private void changeExpiry(long location, long address, long expireAt, long nowMillis) {
        long old = ItemLayout.expireAtMillis(address);
        if (old == expireAt) {
            return;
        }
        int physical = ItemLayout.database(address);
        if (old == Item.NEVER) {
            ItemLayout.expiryEntry(address, enter(location, expireAt, nowMillis));
            expiringItems[physical]++;
        } else if (expireAt == Item.NEVER) {
            expiry.remove(ItemLayout.expiryEntry(address), old);
            expiringItems[physical]--;
        } else {
            ItemLayout.expiryEntry(address,
                    expiry.move(ItemLayout.expiryEntry(address), location, old, expireAt, nowMillis));
        }
        ItemLayout.expireAtMillis(address, expireAt);
        segments.expiryChanged(location, old, expireAt, nowMillis);
    }

    private int enter(long location, long expireAt, long nowMillis) {
        try {
            return expiry.add(location, expireAt, nowMillis);
        } catch (CacheFullException full) {
            context.refusedBytes.addAndGet(context.pool.segmentBytes());
            throw full;
        }
    }

    /**
     * An item that the index no longer holds goes: its expiry entry, the word to the listeners, its bytes.
     *
     * @param tell whether this is a change of its own; a value that was overwritten is not
     */
    void letGo(long location, long address, int physical, Change change, boolean tell) {
        long expireAt = ItemLayout.expireAtMillis(address);
        if (expireAt != Item.NEVER) {
            expiry.remove(ItemLayout.expiryEntry(address), expireAt);
            expiringItems[physical]--;
        }
        if (tell) {
            changed(change, context.databases.logical(physical), ItemLayout.keyAddress(address),
                    ItemLayout.keyLength(address));
        }
        discard(location, address);
    }

    /** Gives up an item's bytes; nothing may refer to them any more. */
    private void discard(long location, long address) {
        datasetBytes -= ItemLayout.keyLength(address) + ItemLayout.valueLength(address);
        segments.died(location);
    }

    // --- eviction and cleaning, for the cleaner

    /** Removes a live item that the cleaner found in a segment. */
    void evict(long location, long address) {
        int physical = ItemLayout.database(address);
        boolean removed = index(physical).remove(verifier.hashOf(location), location);
        assert removed : "the index has lost " + location;
        evicted++;
        letGo(location, address, physical, Change.EVICTED, true);
    }

    /** Whether the item's database was flushed. */
    boolean isDetached(long address) {
        return context.databases.logical(ItemLayout.database(address)) == Databases.DETACHED;
    }

    /** Lets an item of a flushed database go that the cleaner came upon. */
    void reclaim(long location, long address) {
        int physical = ItemLayout.database(address);
        boolean removed = index(physical).remove(verifier.hashOf(location), location);
        assert removed : "the index has lost " + location;
        letGo(location, address, physical, Change.DELETED, false);
    }

    /** Reclaims a live but expired item that the cleaner came upon. */
    void expireNow(long location, long address) {
        int physical = ItemLayout.database(address);
        boolean removed = index(physical).remove(verifier.hashOf(location), location);
        assert removed : "the index has lost " + location;
        expired++;
        letGo(location, address, physical, Change.EXPIRED, true);
    }

    /** Moves a live item to the head for its lifetime; the bytes it had are dead. */
    void move(long location, long address, long nowMillis) {
        int size = ItemLayout.size(address);
        long expireAt = ItemLayout.expireAtMillis(address);
        long writtenAt = segments.meanWrittenAtMillis(Location.segment(location));
        long made = segments.appendMoved(size, lifetimeClass(expireAt, nowMillis), nowMillis);
        long to = address(made);
        Memory.copy(address, to, size);
        segments.born(made, size, expireAt, writtenAt);
        boolean replaced = index(ItemLayout.database(to)).replace(verifier.hashOf(made), location, made);
        assert replaced : "the index has lost " + location;
        if (expireAt != Item.NEVER) {
            expiry.relocate(ItemLayout.expiryEntry(to), made);
        }
        segments.died(location);
    }

    /** A live item drawn at random from all databases, or {@link Index#NONE}. */
    long sampleAny() {
        long total = 0;
        for (Index index : indexes) {
            total += index == null ? 0 : index.size();
        }
        if (total == 0) {
            return Index.NONE;
        }
        long pick = Long.remainderUnsigned(nextRandom(), total);
        for (Index index : indexes) {
            long size = index == null ? 0 : index.size();
            if (pick < size && index != null) {
                return sample(index);
            }
            pick -= size;
        }
        return Index.NONE;
    }

    private long sample(Index index) {
        // A spot is empty with a probability of at most a few in five (the load), or nine in ten after mass deletion.
        for (int tries = 0; tries < 256; tries++) {
            long location = index.sample(nextRandom());
            if (location != Index.NONE) {
                return location;
            }
        }
        return Index.NONE;
    }

    /** A live item with an expiry time drawn at random, or {@link Index#NONE}. */
    long sampleExpiring() {
        return expiry.size() == 0 ? Index.NONE : expiry.sample(nextRandom());
    }

    /** A slice of cleaning or evicting. */
    public ShardCleaner cleaner() {
        return cleaner;
    }

    // --- expiry

    public void beginExpiryCycle(long nowMillis) {
        expiry.beginCycle(nowMillis);
    }

    public boolean expirySlice(long nowMillis, long deadlineNanos) {
        return expiry.runSlice(nowMillis, deadlineNanos) == CycleStatus.DONE;
    }

    public long countExpired(long nowMillis) {
        return expiry.countDue(nowMillis);
    }

    /** The mean remaining lifetime of some expiring items, ms; 0 if there are none. */
    public long averageTtlMillis(int logical, long nowMillis, int samples) {
        int physical = context.databases.physical(logical);
        if (expiringItems[physical] == 0) {
            return 0;
        }
        long sum = 0;
        int drawn = 0;
        for (int i = 0; i < samples; i++) {
            long location = sampleExpiring();
            if (location != Index.NONE && ItemLayout.database(address(location)) == physical) {
                sum += Math.max(0, ItemLayout.expireAtMillis(address(location)) - nowMillis);
                drawn++;
            }
        }
        return drawn == 0 ? 0 : sum / drawn;
    }

    // --- walks

    /** Visits the live items of one home bucket of the database's index. */
    public long scan(int logical, long cursor, long nowMillis, LocationVisitor visitor) {
        Index index = indexes[context.databases.physical(logical)];
        if (index == null) {
            return 0;
        }
        return index.scan(cursor, location -> {
            if (!isPast(ItemLayout.expireAtMillis(address(location)), nowMillis)) {
                visitor.visit(location);
            }
        });
    }

    /** A random live item of the database, or {@link Index#NONE} if luck or the database had none. */
    public long random(int logical, long nowMillis) {
        Index index = indexes[context.databases.physical(logical)];
        if (index == null || index.size() == 0) {
            return Index.NONE;
        }
        long location = sample(index);
        return location != Index.NONE && isPast(ItemLayout.expireAtMillis(address(location)), nowMillis)
                ? Index.NONE
                : location;
    }

    public void lookAt(long location, Item item) {
        look(item, location, address(location));
    }

    /** Moves the shard's indexes on between their tables; true if there is more to do. */
    public boolean rehashSlice(int buckets) {
        boolean more = false;
        for (Index index : indexes) {
            if (index != null) {
                more |= index.rehashStep(buckets);
            }
        }
        return more;
    }

    public void closeIdleHeads(long nowMillis) {
        segments.closeIdleHeads(nowMillis);
    }

    /**
     * Reclaims items of a detached database until the deadline, at least those of a few home buckets.
     *
     * @return whether nothing of it is left in this shard
     */
    public boolean reclaimSlice(int physical, long deadlineNanos) {
        Index index = indexes[physical];
        if (index == null) {
            return true;
        }
        long cursor = reclaimCursor[physical];
        for (int i = 0; i < RECLAIM_BUCKETS && index.size() > 0; i++) {
            if (i > 0 && i % BUCKETS_PER_CLOCK == 0 && context.ticker().nanoTime() - deadlineNanos >= 0) {
                break;
            }
            doomedCount = 0;
            // What does not fit is met again: the scan goes round until the index is empty.
            cursor = index.scan(cursor, this::doom);
            for (int d = 0; d < doomedCount; d++) {
                boolean removed = index.remove(verifier.hashOf(doomed[d]), doomed[d]);
                assert removed : "the index has lost " + doomed[d];
                letGo(doomed[d], address(doomed[d]), physical, Change.DELETED, false);
            }
        }
        reclaimCursor[physical] = cursor;
        if (index.size() > 0) {
            return false;
        }
        index.release();
        indexes[physical] = null;
        reclaimCursor[physical] = 0;
        return true;
    }

    private void doom(long location) {
        if (doomedCount < doomed.length) {
            doomed[doomedCount++] = location;
        }
    }

    // --- facts

    public long size(int logical) {
        Index index = indexes[context.databases.physical(logical)];
        return index == null ? 0 : index.size();
    }

    public long expiringSize(int logical) {
        return expiringItems[context.databases.physical(logical)];
    }

    public void addTo(ShardTotals totals) {
        for (int physical = 0; physical < indexes.length; physical++) {
            Index index = indexes[physical];
            if (index != null) {
                totals.indexBytes += index.bytes();
                totals.indexSlots += index.slots();
                totals.indexed += index.size();
                totals.rehashing |= index.rehashing();
                if (context.databases.logical(physical) != Databases.DETACHED) {
                    totals.items += index.size();
                    totals.expiringItems += expiringItems[physical];
                }
            }
        }
        totals.expiryBytes += expiry.bytes();
        totals.datasetBytes += datasetBytes;
        totals.liveBytes += segments.liveBytes();
        totals.usedBytes += segments.usedBytes();
        totals.deadBytes += segments.deadBytes();
        totals.largeBytes += segments.largeBytes();
        totals.hits += hits;
        totals.misses += misses;
        totals.expired += expired;
        totals.evicted += evicted;
        totals.segmentsFreedWhole += segments.freedWhole();
        totals.bytesWritten += segments.bytesWritten();
        cleaner.addTo(totals);
    }

    public void resetStats() {
        hits = 0;
        misses = 0;
        expired = 0;
        evicted = 0;
        cleaner.resetStats();
    }

    public int number() {
        return number;
    }

    long nextRandom() {
        return random.nextLong();
    }

    SplittableRandom random() {
        return random;
    }

    long address(long location) {
        return context.pool.address(location);
    }

    private Index index(int physical) {
        Index index = indexes[physical];
        if (index == null) {
            throw new IllegalStateException("No index for physical database " + physical);
        }
        return index;
    }

    private Index indexForWriting(int physical) {
        Index index = indexes[physical];
        if (index == null) {
            index = new Index(verifier, context.scanner, context.regions, context.budget, growLoad);
            indexes[physical] = index;
        }
        return index;
    }

    /** Gives all memory back. */
    public void release() {
        for (int physical = 0; physical < indexes.length; physical++) {
            Index index = indexes[physical];
            if (index != null) {
                index.release();
                indexes[physical] = null;
            }
        }
        expiry.release();
    }

    @Nullable
    Index indexOrNull(int physical) {
        return indexes[physical];
    }

    long expiringOf(int physical) {
        return expiringItems[physical];
    }

    Segments segments() {
        return segments;
    }

    Expiry expiry() {
        return expiry;
    }

    KeyVerifier verifier() {
        return verifier;
    }

    long datasetBytes() {
        return datasetBytes;
    }

    long largeCount() {
        return segments.largeItems();
    }

    /** The shard as the owner of what expires. Guarded by the shard's lock. */
    private final class Expirer implements ExpiryOwner {
        @Override
        public long expireAtMillis(long location) {
            return ItemLayout.expireAtMillis(address(location));
        }

        @Override
        public void entryMoved(long location, int entry) {
            ItemLayout.expiryEntry(address(location), entry);
        }

        @Override
        public void expire(long location) {
            long address = address(location);
            int physical = ItemLayout.database(address);
            boolean removed = index(physical).remove(verifier.hashOf(location), location);
            assert removed : "the index has lost " + location;
            expired++;
            expiringItems[physical]--;
            changed(Change.EXPIRED, context.databases.logical(physical), ItemLayout.keyAddress(address),
                    ItemLayout.keyLength(address));
            discard(location, address);
        }
    }
}
