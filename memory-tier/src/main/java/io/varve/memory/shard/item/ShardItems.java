package io.varve.memory.shard.item;

import java.lang.invoke.VarHandle;
import java.util.SplittableRandom;

import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.expiry.Expiry;
import io.varve.memory.index.Index;
import io.varve.memory.index.KeyVerifier;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.segment.Location;
import io.varve.memory.segment.Segments;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import io.varve.memory.shard.learning.AccessedKey;
import io.varve.memory.shard.learning.ShardPenalties;
import io.varve.memory.shard.tree.NodeItems;
import io.varve.memory.shard.tree.ShardTrees;
import org.jspecify.annotations.Nullable;

/**
 * The items of a shard, and the steps that create, change and remove one. Guarded by the shard's lock.
 *
 * <p>A write first allocates everything that can be refused (bytes, an expiry entry, an index slot) and only then frees
 * what it replaces. A refusal therefore leaves the key unchanged. A removal notifies the listeners while the key's
 * bytes are still there. It marks the item dead last, because that may free its segment.
 *
 * <p>INVARIANT: an item is live if and only if one index slot holds its location, or, for a node, the entry of its id
 * does ({@link io.varve.memory.shard.tree.ShardNodes}). It has an expiry entry if and only if its expiry field holds a
 * time; the entry and the item point at each other. The field says when the cycle next examines the item. For a hash
 * with field times it may differ from the key's expiry time ({@link TimedHashes}).
 */
public final class ShardItems {
    /** A value may replace a larger one in place if it wastes at most this many bytes, or half of them. */
    private static final int SLACK_BYTES = 32;
    /** Shared by all shards, and never written. */
    private static final long[] NO_ITEMS = new long[Databases.PHYSICAL];

    private final int number;
    private final ShardContext context;
    private final double growLoad;
    private final Index[] indexes = new Index[Databases.PHYSICAL];
    /** Items whose key has an expiry time, by physical database; {@link #NO_ITEMS} until the first. */
    private long[] expiringItems = NO_ITEMS;
    private final Segments segments;
    private final Expiry expiry;
    private final KeyVerifier verifier;
    private final NodeItems nodeItems;
    private final ShardTrees trees;
    private final TimedHashes timed;
    private final ItemSampler sampler;
    private final ShardPenalties penalties;
    private final ShardPins pins;

    private final ShardChanges changes;
    /**
     * One overwrite in so many is counted, for all of them: a count on each would take the cache line of the segment's
     * account from other cores. Which ones are counted changes with the time.
     */
    private static final int COUNTED_OVERWRITE = 8;

    private final SplittableRandom random;
    private long datasetBytes;
    private long expired;
    private final ItemCleaning cleaning;
    private final ItemAccess access;

    public ShardItems(int number, ShardContext context, ShardChanges changes, int maxOpenSegments, double growLoad,
            ExpireAlgorithm algorithm, int expireBaseMillis, int expireBuckets) {
        this.number = number;
        this.context = context;
        this.changes = changes;
        this.growLoad = growLoad;
        this.random = new SplittableRandom(number);
        this.segments = new Segments(context.pool, maxOpenSegments, context.shards());
        this.verifier = new ItemsByLocation(context);
        this.expiry = Expiry.create(algorithm, expireBaseMillis, expireBuckets, context.regions, context.budget,
                context.ticker, new Expirer(this));
        this.nodeItems = new NodeItems(number, context, segments);
        this.trees = new ShardTrees(nodeItems, context);
        this.timed = new TimedHashes(this, context);
        this.sampler = new ItemSampler(this, context);
        this.penalties = new ShardPenalties(context);
        this.pins = new ShardPins(context);
        this.cleaning = new ItemCleaning(this, context);
        this.access = new ItemAccess(context, segments, random);
    }

    public static boolean isExpired(long expireAtMillis, long nowMillis) {
        return expireAtMillis != Item.NEVER && nowMillis > expireAtMillis;
    }

    public void bind(Item item, long location, long address) {
        bind(item, location, address, ItemLayout.header(address));
    }

    /** @param header the item's header */
    public void bind(Item item, long location, long address, long header) {
        item.bind(location, address, header, ItemType.ofCode(ItemLayout.typeOf(header)), ItemLayout.encodingOf(header),
                ItemLayout.keyAddressOf(address, header), ItemLayout.keyLengthOf(address, header),
                ItemLayout.valueAddressOf(address, header), ItemLayout.valueLengthOf(address, header),
                ItemLayout.capacityOf(address, header), TimedHashes.expireAtMillisOf(address, header));
    }

    // --- the steps of a write

    public boolean fitsInPlace(long location, long address, int valueLength, long expireAt) {
        return fitsInPlace(location, address, ItemLayout.header(address), valueLength, expireAt);
    }

    /** @param header the item's header */
    public boolean fitsInPlace(long location, long address, long header, int valueLength, long expireAt) {
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

    /** Whether a value fits in place if necessary, even a small one in a large capacity. */
    public boolean canStayInPlace(long location, long address, int valueLength) {
        return valueLength <= ItemLayout.capacity(address) && !isShared(location);
    }

    /** A reply in flight may still read a shared run. */
    public boolean isShared(long location) {
        return Location.isLarge(location) && context.pool.largeItems().run(location).isShared();
    }

    /**
     * @param header the item's header
     * @param examineAt its expiry time, or the earlier time at which the cycle must examine it
     */
    public void rewrite(long location, long address, long header, ItemType type, int encoding, int valueLength,
            long expireAt, long examineAt, long nowMillis) {
        boolean changesExpiry = examineAt != Item.NEVER || ItemLayout.expireAtMillisOf(address, header) != Item.NEVER;
        boolean counted = changesExpiry && TimedHashes.countsAsTimed(address);
        if (changesExpiry) {
            boolean expired = TimedHashes.expireAtMillis(address) != Item.NEVER;
            changeExpiry(location, address, examineAt, nowMillis);
            expires(address, expired, expireAt != Item.NEVER);
        }
        int longer = valueLength - ItemLayout.valueLengthOf(address, header);
        if (longer != 0) {
            // Not written in vain: other cores would lose the cache line.
            datasetBytes += longer;
        }
        ItemLayout.rewrite(address, access.touched(header, nowMillis), type, encoding, valueLength);
        if (changesExpiry) {
            timed.count(address, counted, TimedHashes.countsAsTimed(address));
        }
        if (examineAt == Item.NEVER && (address / Long.BYTES + nowMillis) % COUNTED_OVERWRITE == 0) {
            segments.overwritten(location, nowMillis, COUNTED_OVERWRITE);
        }
    }

    /**
     * Appends an item, or allocates a run for it, and writes all of it but the value. Nothing refers to it yet.
     *
     * @param wanted bytes to keep for the value; fewer if the item would become too long
     * @param stamp {@link ItemLayout#stamp(int, int)}
     * @throws CacheFullException also if no item can be as long as key and value together
     */
    public long make(long keyAddress, int keyLength, int physical, ItemType type, int encoding, int valueLength,
            int wanted, long expireAt, int stamp, long nowMillis) {
        int capacity = Math.min(wanted, Integer.MAX_VALUE - ItemLayout.largeHeadroom(keyLength));
        if (capacity < valueLength) {
            throw CacheFullException.TOO_LARGE;
        }
        boolean expires = expireAt != Item.NEVER;
        long size = ItemLayout.size(keyLength, capacity, expires);
        if (size >= context.largeThresholdBytes) {
            LargeRun run = context.pool.largeItems().allocate(ItemLayout.largeHeadroom(keyLength), capacity);
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
        segments.itemWritten(location, (int) size, expireAt, nowMillis);
        datasetBytes += keyLength + valueLength;
        return location;
    }

    /** The lifetime class of an item with this expiry time. */
    public static int lifetimeClass(long expireAt, long nowMillis) {
        return Segments.lifetimeClass(expireAt == Item.NEVER ? Item.NEVER : Math.max(0, expireAt - nowMillis));
    }

    private long append(int size, long expireAt, long nowMillis) {
        try {
            return segments.append(size, lifetimeClass(expireAt, nowMillis), nowMillis);
        } catch (CacheFullException full) {
            throw CacheFullException.of(size);
        }
    }

    public long adopt(LargeRun run, long keyAddress, int keyLength, int physical, ItemType type, int encoding,
            int valueLength, int capacity, long expireAt, int stamp) {
        // A large item always has expiry fields: its header cannot grow later, because the value's place is fixed.
        long address = run.address() - (ItemLayout.size(keyLength, capacity, true) - capacity);
        ItemLayout.write(address, type, encoding, physical, keyLength, valueLength, capacity, true, stamp);
        ItemLayout.expireAtMillis(address, expireAt);
        Memory.copy(keyAddress, ItemLayout.keyAddress(address), keyLength);
        run.adoptedMillis(context.ticker.wallMillis());
        long location = context.pool.largeItems().adopt(run, address, number);
        datasetBytes += keyLength + valueLength;
        segments.itemWritten(location, ItemLayout.size(address), expireAt, 0);
        return location;
    }

    /**
     * Links a new item in place of the one that the index has just found, or in a new slot; undoes it if refused.
     *
     * @param expires whether its key has an expiry time
     * @param examineAt the time in its expiry field
     */
    public void link(Key key, long found, long made, boolean expires, long examineAt, long nowMillis) {
        int physical = context.databases.physical(key.database());
        long address = address(made);
        AccessRecorder recorder = context.recorder();
        if (recorder != null) {
            ItemLayout.followed(address, found == Index.NONE
                    ? recorder.follows(AccessedKey.hash(key.hash(), physical))
                    : ItemLayout.isFollowed(address(found)));
        }
        if (found != Index.NONE && examineAt != Item.NEVER) {
            long foundAddress = address(found);
            long old = ItemLayout.expireAtMillis(foundAddress);
            if (old != Item.NEVER && expiry.mayStay(old, examineAt)) {
                expires(address, TimedHashes.expireAtMillis(foundAddress) != Item.NEVER, expires);
                timed.count(address, TimedHashes.countsAsTimed(foundAddress), TimedHashes.countsAsTimed(address));
                moveEntry(foundAddress, made, address);
                index(physical).replaceFound(made);
                pins.replaced(foundAddress, address);
                free(found, foundAddress);
                return;
            }
        }
        boolean entered = false;
        try {
            if (examineAt != Item.NEVER) {
                ItemLayout.expiryEntry(address, expiry.add(made, examineAt, nowMillis));
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
                expiry.remove(ItemLayout.expiryEntry(address), examineAt);
            }
            free(made, address);
            throw full;
        }
        expires(address, false, expires);
        if (entered) {
            timed.count(address, false, TimedHashes.countsAsTimed(address));
        }
        if (found != Index.NONE) {
            pins.replaced(address(found), address);
            releaseItem(found, address(found), physical, Change.DELETED, false);
        }
    }

    /** Counts an item whose key gains or loses an expiry time. */
    @SuppressWarnings("ReferenceEquality") // the shared array, not one that is equal
    public void expires(long address, boolean before, boolean now) {
        if (before != now) {
            if (expiringItems == NO_ITEMS) {
                expiringItems = new long[Databases.PHYSICAL];
            }
            expiringItems[ItemLayout.database(address)] += now ? 1 : -1;
        }
    }

    private void moveEntry(long oldAddress, long made, long address) {
        int entry = ItemLayout.expiryEntry(oldAddress);
        ItemLayout.expiryEntry(address, entry);
        expiry.relocate(entry, made);
    }

    void insert(Index index, long hash, long location) {
        index.insert(hash, location);
        requestRefusedTable(index);
    }

    /** Requests the larger table that an index was refused, if the policy may evict for it. */
    public void requestRefusedTable(Index index) {
        long refused = index.takeRefusedBytes();
        if (refused > 0 && context.evictionPolicy().evicts()) {
            // Not summed: the index requests the same table repeatedly.
            context.deferredBytes.accumulateAndGet(refused, Math::max);
        }
    }

    /** Gives a moved copy the index slot and expiry entry of its original. */
    public void replace(long hash, long old, long made) {
        long oldAddress = address(old);
        long address = address(made);
        boolean replaced = index(ItemLayout.database(address)).replace(hash, old, made);
        assert replaced : "the index has no entry for location " + old;
        if (ItemLayout.expireAtMillis(oldAddress) != Item.NEVER) {
            moveEntry(oldAddress, made, address);
        }
        if (ItemLayout.isTree(oldAddress)) {
            trees.moved(address, made);
        }
        pins.replaced(oldAddress, address);
        discard(old, oldAddress);
    }

    /** Changes the expiry field of an item that has one, or needs none. The caller counts the expiry of its key. */
    public void changeExpiry(long location, long address, long expireAt, long nowMillis) {
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
        setExamineAt(location, address, expireAt, nowMillis);
    }

    /** Changes the expiry field of an item; the caller updates its entry. */
    public void setExamineAt(long location, long address, long millis, long nowMillis) {
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
     * Removes an item that the index no longer holds: frees its expiry entry, notifies listeners, frees its bytes.
     *
     * @param notifies whether this is a change of its own; an overwritten value is not
     */
    public void releaseItem(long location, long address, int physical, Change change, boolean notifies) {
        pins.remove(address);
        long expireAt = ItemLayout.expireAtMillis(address);
        if (expireAt != Item.NEVER) {
            expiry.remove(ItemLayout.expiryEntry(address), expireAt);
            expires(address, TimedHashes.expireAtMillis(address) != Item.NEVER, false);
            timed.count(address, TimedHashes.countsAsTimed(address), false);
        }
        if (notifies) {
            notifyAndFree(change, location, address, physical);
        } else {
            free(location, address);
        }
    }

    /** The bytes are freed even if a listener fails, because nothing refers to them. */
    void notifyAndFree(Change change, long location, long address, int physical) {
        AccessRecorder recorder = context.recorder();
        // A larger memory might still hold an evicted item.
        if (recorder != null && ItemLayout.isFollowed(address) && change != Change.EVICTED
                && change != Change.DEMOTED) {
            recorder.remove(AccessedKey.hash(verifier.hashOf(location), physical), context.ticker.wallMillis());
        }
        try {
            changes.changed(change, context.databases.logical(physical), ItemLayout.keyAddress(address),
                    ItemLayout.keyLength(address));
        } finally {
            free(location, address);
        }
    }

    /** Frees an item to which nothing refers, with its trees, if any. */
    public void free(long location) {
        free(location, address(location));
    }

    private void free(long location, long address) {
        if (ItemLayout.isTree(address)) {
            trees.markDying(address);
        }
        discard(location, address);
    }

    /** Frees an item's bytes, to which nothing may refer. */
    private void discard(long location, long address) {
        datasetBytes -= ItemLayout.keyLength(address) + ItemLayout.valueLength(address);
        segments.itemRemoved(location);
    }

    void removeExpired(long location, long address, int physical, @Nullable Change cause) {
        countExpired(cause, address);
        releaseItem(location, address, physical, cause == null ? Change.EXPIRED : cause, true);
    }

    public ShardChanges changes() {
        return changes;
    }

    public ShardTrees trees() {
        return trees;
    }

    public ShardPenalties penalties() {
        return penalties;
    }

    public ShardPins pins() {
        return pins;
    }

    void countExpired(@Nullable Change cause, long address) {
        if (cause == Change.EMPTIED) {
            timed.emptied(address);
        } else {
            expired++;
        }
    }

    public TimedHashes timed() {
        return timed;
    }

    /** Disposes of items that the cleaner meets. */
    public ItemCleaning cleaning() {
        return cleaning;
    }

    public ItemAccess access() {
        return access;
    }

    /** Samples random items. */
    public ItemSampler sampler() {
        return sampler;
    }

    public long nextRandom() {
        return random.nextLong();
    }

    public SplittableRandom random() {
        return random;
    }

    public long address(long location) {
        return context.pool.address(location);
    }

    public Index index(int physical) {
        Index index = indexes[physical];
        if (index == null) {
            throw new IllegalStateException("No index for physical database " + physical);
        }
        return index;
    }

    /** The index of a database, which is created if there is none. */
    public Index indexForWriting(int physical) {
        Index index = indexes[physical];
        if (index == null) {
            index = new Index(verifier, context.scanner, context.regions, context.budget, growLoad);
            // ORDER: a reader without the lock that finds the index finds it complete.
            VarHandle.storeStoreFence();
            indexes[physical] = index;
        }
        return index;
    }

    /** Frees all memory. */
    public void release() {
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

    /** Needs no lock if the caller validates what it reads, as {@code OptimisticReader} does. */
    public @Nullable Index indexOrNull(int physical) {
        return indexes[physical];
    }

    public long expiringOf(int physical) {
        return expiringItems[physical];
    }

    public Segments segments() {
        return segments;
    }

    public Expiry expiry() {
        return expiry;
    }

    public KeyVerifier verifier() {
        return verifier;
    }

    public long datasetBytes() {
        return datasetBytes + nodeItems.datasetBytes();
    }

    public long largeCount() {
        return segments.largeItems();
    }

    /**
     * Removes the item that the index has just found, if it or all of its fields have expired; its expiry field is
     * past. A replica only hides it.
     *
     * @return whether it does not exist for the calling thread
     */
    public boolean expireFound(Index index, long location, int physical, long nowMillis) {
        if (!context.removesExpired()) {
            return !context.findsExpired() && timed.hasExpired(address(location), nowMillis);
        }
        long address = address(location);
        Change cause = timed.causeOf(address, nowMillis);
        if (cause == null) {
            return false;
        }
        index.removeFound();
        removeExpired(location, address, physical, cause);
        return true;
    }

    /** Accounts for a value whose length changed in place. */
    public void lengthChanged(int from, int to) {
        datasetBytes += to - from;
    }

    /** Changes the length of a value in place. */
    public void resizeInPlace(long address, int encoding, int valueLength) {
        datasetBytes += valueLength - ItemLayout.valueLength(address);
        ItemLayout.valueLength(address, valueLength);
        ItemLayout.encoding(address, encoding);
    }

    /** Drops the index of a reclaimed database. */
    public void dropIndex(int physical) {
        indexes[physical] = null;
    }

    public long expired() {
        return expired;
    }

    public long evicted() {
        return cleaning.evicted();
    }

    public void resetStats() {
        expired = 0;
        cleaning.resetStats();
        timed.resetStats();
    }

    public int number() {
        return number;
    }
}
