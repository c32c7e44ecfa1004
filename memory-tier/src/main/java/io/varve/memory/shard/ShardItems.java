package io.varve.memory.shard;

import java.util.SplittableRandom;

import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.index.KeyVerifier;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;
import org.jspecify.annotations.Nullable;

/**
 * What lives in a shard, and the steps by which an item comes, changes and goes. Guarded by the shard's lock.
 *
 * <p>A write first takes what may be refused (bytes, an expiry entry, an index slot) and only then lets go of what it
 * replaces, so that a refusal leaves the key as it was. A removal tells the listeners while the key's bytes are still
 * there, and marks the item dead last, because that may free its segment.
 *
 * <p>INVARIANT: an item is live if and only if one index slot holds its location, or, for a node, the entry of its id
 * ({@link ShardNodes}); it has an expiry entry if and only if it has an expiry time; the entry and the item point at each other. That time
 * is when it is looked at next: of a hash whose fields have times not that of its key ({@link TimedHashes}).
 */
final class ShardItems {
    /** A value may lie in place of a larger one if it wastes no more than this many bytes or half of them. */
    private static final int SLACK_BYTES = 32;

    private final int number;
    private final ShardContext context;
    private final double growLoad;
    private final Index[] indexes = new Index[Databases.PHYSICAL];
    private final long[] expiringItems = new long[Databases.PHYSICAL];
    private final Segments segments;
    private final Expiry expiry;
    private final KeyVerifier verifier;
    private final NodeItems nodeItems;
    private final ShardTrees trees;
    private final TimedHashes timed;
    private final ItemSampler sampler;
    private final ShardPenalties penalties;

    private long sequence;
    private final SplittableRandom random;
    private long datasetBytes;
    private long expired;
    private final ItemCleaning cleaning;
    private final ItemAccess access;
    private final ShardLock lock;

    ShardItems(int number, ShardContext context, ShardLock lock, int heads, double growLoad,
            ExpireAlgorithm algorithm, int expireBaseMillis, int expireBuckets) {
        this.number = number;
        this.context = context;
        this.lock = lock;
        this.growLoad = growLoad;
        this.random = new SplittableRandom(number);
        this.segments = new Segments(context.pool, heads);
        this.verifier = new ItemsByLocation(context);
        this.expiry = Expiry.create(algorithm, expireBaseMillis, expireBuckets, context.regions, context.budget,
                context.ticker, new Expirer(this));
        this.nodeItems = new NodeItems(number, context, segments);
        this.trees = new ShardTrees(nodeItems, context);
        this.timed = new TimedHashes(this, context);
        this.sampler = new ItemSampler(this, context);
        this.penalties = new ShardPenalties(context);
        this.cleaning = new ItemCleaning(this, context);
        this.access = new ItemAccess(context, segments, random);
    }

    static boolean isPast(long expireAtMillis, long nowMillis) {
        return expireAtMillis != Item.NEVER && nowMillis > expireAtMillis;
    }

    void look(Item item, long location, long address) {
        look(item, location, address, ItemLayout.header(address));
    }

    /** @param header the item's */
    void look(Item item, long location, long address, long header) {
        item.look(location, address, header, ItemType.ofCode(ItemLayout.typeOf(header)), ItemLayout.encodingOf(header),
                ItemLayout.keyAddressOf(address, header), ItemLayout.keyLengthOf(address, header),
                ItemLayout.valueAddressOf(address, header), ItemLayout.valueLengthOf(address, header),
                ItemLayout.capacityOf(address, header), TimedHashes.expireAtMillisOf(address, header));
    }

    /** The one door for change: gives the change its number and tells who listens. */
    void changed(Change change, int logicalDatabase, long keyAddress, int keyLength) {
        assert lock.isHeldByMe();
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

    /** Tells that a key has come, if the index has not found it before. */
    void tellIfCreated(Key key, long found) {
        if (found == Index.NONE) {
            for (ChangeListener listener : context.listeners) {
                listener.created(key.database(), key.address(), key.length());
            }
        }
    }

    /** Tells that a key was looked for in vain. */
    void tellMissed(Key key) {
        for (ChangeListener listener : context.listeners) {
            listener.missed(key.database(), key.address(), key.length());
        }
    }

    // --- the steps of a write

    boolean fitsInPlace(long location, long address, int valueLength, long expireAt) {
        return fitsInPlace(location, address, ItemLayout.header(address), valueLength, expireAt);
    }

    /** @param header the item's */
    boolean fitsInPlace(long location, long address, long header, int valueLength, long expireAt) {
        int capacity = ItemLayout.capacityOf(address, header);
        if (valueLength > capacity || expireAt != Item.NEVER && !ItemLayout.hasExpiryFieldsOf(header)) {
            return false;
        }
        int slack = capacity - valueLength;
        if (slack > SLACK_BYTES && slack > capacity / 2) {
            return false;
        }
        return !isShared(location);
    }

    /** Whether a value lies in place if need be, be it a small one where there is room for a large one. */
    boolean canLieInPlace(long location, long address, int valueLength) {
        return valueLength <= ItemLayout.capacity(address) && !isShared(location);
    }

    /** A reply in flight may still be reading a run that it shares. */
    boolean isShared(long location) {
        return Location.isLarge(location) && context.pool.largeItems().run(location).isShared();
    }

    /**
     * @param header the item's
     * @param lookAt its expiry time, or when it is to be looked at before
     */
    void rewrite(long location, long address, long header, ItemType type, int encoding, int valueLength,
            long expireAt, long lookAt, long nowMillis) {
        boolean isLookedAt = lookAt != Item.NEVER || ItemLayout.expireAtMillisOf(address, header) != Item.NEVER;
        boolean counted = isLookedAt && TimedHashes.countsAsTimed(address);
        if (isLookedAt) {
            boolean expired = TimedHashes.expireAtMillis(address) != Item.NEVER;
            changeExpiry(location, address, lookAt, nowMillis);
            expires(address, expired, expireAt != Item.NEVER);
        }
        datasetBytes += valueLength - ItemLayout.valueLengthOf(address, header);
        ItemLayout.rewrite(address, access.touched(header, nowMillis), type, encoding, valueLength);
        if (isLookedAt) {
            timed.count(address, counted, TimedHashes.countsAsTimed(address));
        }
        if (lookAt == Item.NEVER) {
            segments.overwritten(location, nowMillis);
        }
    }

    /**
     * Appends an item (or takes a run for it) and writes all of it but the value. Nothing refers to it yet.
     *
     * @param wanted bytes to keep for the value: fewer are where an item could not be so long
     * @param stamp  {@link ItemLayout#stamp(int, int)}
     * @throws CacheFullException also if no item can be as long as key and value are
     */
    long make(long keyAddress, int keyLength, int physical, ItemType type, int encoding, int valueLength,
            int wanted, long expireAt, int stamp, long nowMillis) {
        int capacity = Math.min(wanted, Integer.MAX_VALUE - ItemLayout.largeHeadRoom(keyLength));
        if (capacity < valueLength) {
            throw CacheFullException.TOO_LARGE;
        }
        boolean expires = expireAt != Item.NEVER;
        long size = ItemLayout.size(keyLength, capacity, expires);
        if (size >= context.largeThresholdBytes) {
            LargeRun run = context.pool.largeItems().allocate(ItemLayout.largeHeadRoom(keyLength), capacity);
            if (run == null) {
                throw CacheFullException.of(size);
            }
            return adopt(run, keyAddress, keyLength, physical, type, encoding, valueLength, capacity, expireAt,
                    stamp);
        }
        long location = append((int) size, expireAt, nowMillis);
        long address = address(location);
        ItemLayout.write(address, type, encoding, physical, keyLength, valueLength, capacity, expires, stamp);
        if (expires) {
            ItemLayout.expireAtMillis(address, expireAt);
        }
        Memory.copy(keyAddress, ItemLayout.keyAddress(address), keyLength);
        segments.born(location, (int) size, expireAt, nowMillis);
        datasetBytes += keyLength + valueLength;
        return location;
    }

    static int lifetimeClass(long expireAt, long nowMillis) {
        return Segments.lifetimeClass(expireAt == Item.NEVER ? Item.NEVER : Math.max(0, expireAt - nowMillis));
    }

    private long append(int size, long expireAt, long nowMillis) {
        try {
            return segments.append(size, lifetimeClass(expireAt, nowMillis), nowMillis);
        } catch (CacheFullException full) {
            throw CacheFullException.of(size);
        }
    }

    long adopt(LargeRun run, long keyAddress, int keyLength, int physical, ItemType type, int encoding,
            int valueLength, int capacity, long expireAt, int stamp) {
        // A large item always has expiry fields: its header cannot grow later, the value's place being fixed.
        long address = run.address() - (ItemLayout.size(keyLength, capacity, true) - capacity);
        ItemLayout.write(address, type, encoding, physical, keyLength, valueLength, capacity, true, stamp);
        ItemLayout.expireAtMillis(address, expireAt);
        Memory.copy(keyAddress, ItemLayout.keyAddress(address), keyLength);
        run.adoptedMillis(context.ticker.wallMillis());
        long location = context.pool.largeItems().adopt(run, address, number);
        datasetBytes += keyLength + valueLength;
        segments.born(location, ItemLayout.size(address), expireAt, 0);
        return location;
    }

    /**
     * Puts a made item in the place of the one the index has just found, or into a new slot; undoes it if refused.
     *
     * @param expires whether its key has an expiry time
     * @param lookAt  the time in its expiry field
     */
    void link(Key key, long found, long made, boolean expires, long lookAt, long nowMillis) {
        int physical = context.databases.physical(key.database());
        long address = address(made);
        AccessRecorder recorder = context.recorder;
        if (recorder != null) {
            ItemLayout.followed(address, found == Index.NONE
                    ? recorder.follows(AccessedKey.hash(key.hash(), physical))
                    : ItemLayout.isFollowed(address(found)));
        }
        if (found != Index.NONE && lookAt != Item.NEVER) {
            long foundAddress = address(found);
            long old = ItemLayout.expireAtMillis(foundAddress);
            if (old != Item.NEVER && expiry.mayStay(old, lookAt)) {
                expires(address, TimedHashes.expireAtMillis(foundAddress) != Item.NEVER, expires);
                timed.count(address, TimedHashes.countsAsTimed(foundAddress), TimedHashes.countsAsTimed(address));
                takeEntryOver(foundAddress, made, address);
                index(physical).replaceFound(made);
                abandon(found, foundAddress);
                return;
            }
        }
        boolean entered = false;
        try {
            if (lookAt != Item.NEVER) {
                ItemLayout.expiryEntry(address, expiry.add(made, lookAt, nowMillis));
                entered = true;
            }
            if (found != Index.NONE) {
                index(physical).replaceFound(made);
            } else {
                insert(indexForWriting(physical), key.hash(), made);
            }
        } catch (CacheFullException full) {
            Index index = indexes[physical];
            long refused = index == null ? 0 : index.takeRefusedBytes();
            context.refusedBytes.addAndGet(Math.max(refused, context.pool.segmentBytes()));
            if (entered) {
                expiry.remove(ItemLayout.expiryEntry(address), lookAt);
            }
            abandon(made, address);
            throw full;
        }
        expires(address, false, expires);
        if (entered) {
            timed.count(address, false, TimedHashes.countsAsTimed(address));
        }
        if (found != Index.NONE) {
            letGo(found, address(found), physical, Change.DELETED, false);
        }
    }

    /** Counts an item whose key has an expiry time, or has none any more. */
    void expires(long address, boolean before, boolean now) {
        if (before != now) {
            expiringItems[ItemLayout.database(address)] += now ? 1 : -1;
        }
    }

    private void takeEntryOver(long oldAddress, long made, long address) {
        int entry = ItemLayout.expiryEntry(oldAddress);
        ItemLayout.expiryEntry(address, entry);
        expiry.relocate(entry, made);
    }

    void insert(Index index, long hash, long location) {
        index.insert(hash, location);
        askForRefused(index);
    }

    /** Asks for the larger table that an index was refused, if anything may be evicted for it. */
    void askForRefused(Index index) {
        long refused = index.takeRefusedBytes();
        if (refused > 0 && context.evictionPolicy.evicts()) {
            // Not added: the same table is asked for again and again.
            context.deferredBytes.accumulateAndGet(refused, Math::max);
        }
    }

    /** Lets a moved copy take over index slot and expiry entry of the item it was made from. */
    void replace(long hash, long old, long made) {
        long oldAddress = address(old);
        long address = address(made);
        boolean replaced = index(ItemLayout.database(address)).replace(hash, old, made);
        assert replaced : "the index has lost " + old;
        if (ItemLayout.expireAtMillis(oldAddress) != Item.NEVER) {
            takeEntryOver(oldAddress, made, address);
        }
        if (ItemLayout.isTree(oldAddress)) {
            trees.moved(address, made);
        }
        discard(old, oldAddress);
    }

    /**
     * Makes room for the ten bytes of expiry fields: at the tail of an open head in place, else by a copy, which goes to
     * the head for its lifetime.
     */
    long withExpiryFields(Key key, Item item, long expireAt, long nowMillis) {
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
                item.encoding(), item.valueLength(), item.capacity(), expireAt, ItemLayout.stamp(item.address()),
                nowMillis);
        long madeAddress = address(made);
        segments.expiryChanged(made, expireAt, Item.NEVER, nowMillis);
        ItemLayout.expireAtMillis(madeAddress, Item.NEVER);
        Memory.copy(item.valueAddress(), ItemLayout.valueAddress(madeAddress), item.valueLength());
        replace(key.hash(), item.location(), made);
        return made;
    }

    /** The item has expiry fields, or none is asked for. Whether its key expires is counted elsewhere. */
    void changeExpiry(long location, long address, long expireAt, long nowMillis) {
        long old = ItemLayout.expireAtMillis(address);
        if (old == expireAt) {
            return;
        }
        if (old == Item.NEVER) {
            ItemLayout.expiryEntry(address, enter(location, expireAt, nowMillis));
        } else if (expireAt == Item.NEVER) {
            expiry.remove(ItemLayout.expiryEntry(address), old);
        } else if (!expiry.mayStay(old, expireAt)) {
            ItemLayout.expiryEntry(address,
                    expiry.move(ItemLayout.expiryEntry(address), location, old, expireAt, nowMillis));
        }
        lookAt(location, address, expireAt, nowMillis);
    }

    /** Another time for an item whose entry is the caller's to care for. */
    void lookAt(long location, long address, long millis, long nowMillis) {
        long old = ItemLayout.expireAtMillis(address);
        ItemLayout.expireAtMillis(address, millis);
        segments.expiryChanged(location, old, millis, nowMillis);
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
            expires(address, TimedHashes.expireAtMillis(address) != Item.NEVER, false);
            timed.count(address, TimedHashes.countsAsTimed(address), false);
        }
        if (tell) {
            tellAndAbandon(change, location, address, physical);
        } else {
            abandon(location, address);
        }
    }

    /** The bytes are given up even if a listener fails: nothing refers to them any more. */
    void tellAndAbandon(Change change, long location, long address, int physical) {
        AccessRecorder recorder = context.recorder;
        // What is evicted might be there in a larger memory.
        if (recorder != null && ItemLayout.isFollowed(address) && change != Change.EVICTED && change != Change.FELL) {
            recorder.remove(AccessedKey.hash(verifier.hashOf(location), physical), context.ticker().wallMillis());
        }
        try {
            changed(change, context.databases.logical(physical), ItemLayout.keyAddress(address),
                    ItemLayout.keyLength(address));
        } finally {
            abandon(location, address);
        }
    }

    /** Gives up an item that nothing refers to, with what there is of its trees. */
    void abandon(long location) {
        abandon(location, address(location));
    }

    private void abandon(long location, long address) {
        if (ItemLayout.isTree(address)) {
            trees.die(address);
        }
        discard(location, address);
    }

    /** Gives up an item's bytes; nothing may refer to them any more. */
    private void discard(long location, long address) {
        datasetBytes -= ItemLayout.keyLength(address) + ItemLayout.valueLength(address);
        segments.died(location);
    }

    void goes(long location, long address, int physical, @Nullable Change way) {
        countExpired(way, address);
        letGo(location, address, physical, way == null ? Change.EXPIRED : way, true);
    }

    ShardTrees trees() {
        return trees;
    }

    ShardPenalties penalties() {
        return penalties;
    }

    void countExpired(@Nullable Change way, long address) {
        if (way == Change.EMPTIED) {
            timed.emptied(address);
        } else {
            expired++;
        }
    }

    TimedHashes timed() {
        return timed;
    }

    /** What becomes of items that the cleaner meets. */
    ItemCleaning cleaning() {
        return cleaning;
    }

    ItemAccess access() {
        return access;
    }

    /** Draws items at random. */
    ItemSampler sampler() {
        return sampler;
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

    Index index(int physical) {
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
    void release() {
        for (int physical = 0; physical < indexes.length; physical++) {
            Index index = indexes[physical];
            if (index != null) {
                index.release();
                indexes[physical] = null;
            }
        }
        expiry.release();
        trees.release();
        penalties.release();
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
        return datasetBytes + nodeItems.datasetBytes();
    }

    long largeCount() {
        return segments.largeItems();
    }

    /** The item that the index has just found is past the time at which it is looked at: it goes, or is there still. */
    boolean expireFound(Index index, long location, int physical, long nowMillis) {
        long address = address(location);
        Change way = timed.wayOf(address, nowMillis);
        if (way == null) {
            return false;
        }
        index.removeFound();
        goes(location, address, physical, way);
        return true;
    }

    /** A value has another length, and may have another capacity, where it lies. */
    void lengthChanged(int from, int to) {
        datasetBytes += to - from;
    }

    /** Another length for a value that keeps its place. */
    void resizeInPlace(long address, int encoding, int valueLength) {
        datasetBytes += valueLength - ItemLayout.valueLength(address);
        ItemLayout.valueLength(address, valueLength);
        ItemLayout.encoding(address, encoding);
    }

    /** Forgets the index of a database that was reclaimed. */
    void dropIndex(int physical) {
        indexes[physical] = null;
    }

    long expired() {
        return expired;
    }

    long evicted() {
        return cleaning.evicted();
    }

    void resetStats() {
        expired = 0;
        cleaning.resetStats();
        timed.resetStats();
    }

    int number() {
        return number;
    }
}
