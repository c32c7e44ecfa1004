package io.varve.memory.shard.item;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.packed.PackedHash;
import io.varve.memory.collection.tree.NodeSpace;
import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.expiry.ExpiryOwner;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Hashes whose fields may have expiry times, each one an item of the shard. Guarded by the shard's lock.
 *
 * <p>The expiry field of such an item says when the cycle next examines it: no later than the key expires or the first
 * field is due. The key's own expiry time is in the value ({@link TimedHashLayout}). A lookup therefore compares one
 * time, as for any other key, and the expiry stores one time for each item. Commands do not see a due field; only the
 * expiry cycle removes it.
 *
 * <p>INVARIANT: the expiry field is never later than the time of any field or of the key; it may be earlier.
 */
public final class TimedHashes {
    /** The most fields of a tree that are removed at once: some 100 µs of work. */
    private static final int MAX_REMOVED_AT_ONCE = 32;
    /** Shared by all shards, and never written. */
    private static final long[] NO_HASHES = new long[Databases.PHYSICAL];

    private final ShardItems items;
    private final ShardContext context;
    /** Null until the first large hash with field times: it takes some 11 KB of heap. */
    private @Nullable HashTree tree;
    private long fieldsExpired;
    /** Hashes for which {@link #countsAsTimed} is true, by physical database; {@link #NO_HASHES} until the first. */
    private long[] counts = NO_HASHES;

    TimedHashes(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    // --- state of an item

    /** Whether fields of an item may have times. */
    public static boolean isTimed(long address) {
        return isTimedOf(address, ItemLayout.header(address));
    }

    /** Whether fields of an item with this header may have times. */
    public static boolean isTimedOf(long address, long header) {
        int encoding = ItemLayout.encodingOf(header);
        return encoding >= Item.TIMED && ItemLayout.typeOf(header) == ItemType.HASH.code()
                && (encoding == Item.TIMED
                        || TimedHashLayout.isTimedHeader(ItemLayout.valueLengthOf(address, header)));
    }

    private static long word(long address) {
        return TimedHashLayout.word(ItemLayout.valueAddress(address), ItemLayout.isTree(address));
    }

    /** The expiry time of the key of an item of any kind, or {@link Item#NEVER}. */
    public static long expireAtMillis(long address) {
        return expireAtMillisOf(address, ItemLayout.header(address));
    }

    /** The expiry time of the key of an item with this header, or {@link Item#NEVER}. */
    static long expireAtMillisOf(long address, long header) {
        long examineAt = ItemLayout.expireAtMillisOf(address, header);
        return examineAt == Item.NEVER || !isTimedOf(address, header)
                ? examineAt
                : TimedHashLayout.expireAtMillis(word(address));
    }

    /** Whether an item of any kind has expired, or all of its fields are due. */
    public boolean hasExpired(long address, long nowMillis) {
        return ShardItems.isExpired(ItemLayout.expireAtMillis(address), nowMillis)
                && (!isTimed(address) || causeOf(address, nowMillis) != null);
    }

    /** Whether an item of any kind {@linkplain #hasExpired has expired}, and is not a replica's, which keeps it. */
    public boolean isDueForRemoval(long address, long nowMillis) {
        return hasExpired(address, nowMillis) && context.removesExpired();
    }

    /**
     * The change that an expired item is reported as: {@link Change#EXPIRED} or {@link Change#EMPTIED}; null if it has
     * not expired.
     */
    @Nullable
    Change causeOf(long address, long nowMillis) {
        if (ShardItems.isExpired(expireAtMillis(address), nowMillis)) {
            return Change.EXPIRED;
        }
        return isTimed(address) && !hasLasting(address, nowMillis) ? Change.EMPTIED : null;
    }

    private boolean hasLasting(long address, long nowMillis) {
        if (ItemLayout.isTree(address)) {
            return open(address, nowMillis).visible() > 0;
        }
        return PackedHash.hasLasting(packed(address), packedBytes(address), nowMillis);
    }

    private HashTree open(long address, long nowMillis) {
        HashTree opened = tree;
        if (opened == null) {
            opened = new HashTree();
            tree = opened;
        }
        opened.open(items.trees().nodes(), ItemLayout.valueAddress(address), ItemLayout.valueLength(address),
                nowMillis);
        return opened;
    }

    private static long packed(long address) {
        return ItemLayout.valueAddress(address) + TimedHashLayout.WORD_BYTES;
    }

    private static int packedBytes(long address) {
        return ItemLayout.valueLength(address) - TimedHashLayout.WORD_BYTES;
    }

    /** The earliest time of a field, due or not, or {@link Item#NEVER}. */
    private long earliest(long address) {
        return ItemLayout.isTree(address)
                ? open(address, 0).earliestOfAll()
                : PackedHash.earliest(packed(address), packedBytes(address), 0);
    }

    /**
     * Whether an item of any kind is a hash that the cycle examines for its fields. A hash whose fields have lost their
     * times counts until the cycle has seen that, or its key has expired: removing a time does not check the other
     * fields.
     */
    public static boolean countsAsTimed(long address) {
        return isTimed(address) && ItemLayout.expireAtMillis(address) != Item.NEVER;
    }

    /** Updates the count for an item for which {@link #countsAsTimed} has changed. */
    @SuppressWarnings("ReferenceEquality") // the shared array, not one that is equal
    public void count(long address, boolean before, boolean now) {
        if (before != now) {
            if (counts == NO_HASHES) {
                counts = new long[Databases.PHYSICAL];
            }
            counts[ItemLayout.database(address)] += now ? 1 : -1;
        }
    }

    /** The number of hashes of a physical database for which {@link #countsAsTimed} is true. */
    public long timedOf(int physical) {
        return counts[physical];
    }

    /** Whether any field of such a hash has a time, or its tree of times still has nodes. */
    public boolean hasTimes(long address) {
        return ItemLayout.isTree(address)
                ? TreeHeader.root(TreeHeader.record(ItemLayout.valueAddress(address), 1)) != NodeSpace.NONE
                : earliest(address) != Item.NEVER;
    }

    /** The earlier of two times, each of which may be {@link Item#NEVER}. */
    static long earlier(long one, long another) {
        return one == Item.NEVER ? another : another == Item.NEVER ? one : Math.min(one, another);
    }

    /** The time at which an item's key expires or its next field is due, or {@link Item#NEVER}. */
    public long changesAtMillis(long address, long nowMillis) {
        long expireAtMillis = expireAtMillis(address);
        if (!isTimed(address)) {
            return expireAtMillis;
        }
        return earlier(expireAtMillis, ItemLayout.isTree(address)
                ? open(address, nowMillis).earliest()
                : PackedHash.earliest(packed(address), packedBytes(address), nowMillis));
    }

    /** The time at which the cycle must examine an item whose key has this expiry time. */
    public long examineAtMillis(long address, long expireAtMillis) {
        return earlier(expireAtMillis, earliest(address));
    }

    /** The time at which the cycle must examine an item with this value, which need not be a hash with field times. */
    public static long examineAtMillis(ItemType type, int encoding, long value, int valueLength, long expireAtMillis) {
        if (type != ItemType.HASH || encoding != Item.TIMED) {
            return expireAtMillis;
        }
        return earlier(expireAtMillis, PackedHash.earliest(value + TimedHashLayout.WORD_BYTES,
                valueLength - TimedHashLayout.WORD_BYTES, 0));
    }

    /** The time at which the cycle must examine a packed hash whose value is on the heap. */
    public static long examineAtMillis(byte[] value, int from, int valueLength, long expireAtMillis) {
        return earlier(expireAtMillis, PackedHash.earliest(value, from + TimedHashLayout.WORD_BYTES,
                from + valueLength));
    }

    /** Sets the expiry time of an item's key; the caller updates its expiry field. */
    public static void expireAtMillis(long address, long expireAtMillis) {
        TimedHashLayout.expireAtMillis(word(address), expireAtMillis);
    }

    /** The time from which on a packed item does not exist, for whatever reason, or {@link Item#NEVER}. */
    static long endMillis(long address) {
        long expireAtMillis = expireAtMillis(address);
        return isTimed(address) && !ItemLayout.isTree(address)
                ? earlier(expireAtMillis, PackedHash.latest(packed(address), packedBytes(address)))
                : expireAtMillis;
    }

    // --- the expiry cycle

    /** Removes due fields, for {@link ExpiryOwner#expireDue}; may move the item. */
    long removeDue(long location, long address, long nowMillis) {
        if (!isTimed(address) || causeOf(address, nowMillis) != null) {
            return ExpiryOwner.EXPIRED;
        }
        return ItemLayout.isTree(address)
                ? removeFromTree(location, address, nowMillis)
                : removeFromPacked(location, address, nowMillis);
    }

    private long removeFromTree(long location, long address, long nowMillis) {
        items.trees().nodes().now(nowMillis);
        HashTree hash = open(address, nowMillis);
        long word = word(address);
        boolean hadBegun = TimedHashLayout.isBeingRemoved(word);
        notifyFieldsExpire(address, new DueOfTree(hash));
        int removed = hash.removeDue(MAX_REMOVED_AT_ONCE);
        boolean isBeingRemoved = hash.hides();
        TimedHashLayout.beingRemoved(word, isBeingRemoved);
        fieldsExpired += removed;
        if (removed > 0 && !(hadBegun && isBeingRemoved)) {
            // At the beginning and at the end, not a thousand times in between.
            notifyFieldsExpired(address);
        }
        long next = isBeingRemoved
                ? hash.earliestOfAll()
                : earlier(TimedHashLayout.expireAtMillis(word), hash.earliestOfAll());
        setNextExamination(location, address, next, nowMillis);
        return next;
    }

    private void setNextExamination(long location, long address, long next, long nowMillis) {
        items.setExamineAt(location, address, next, nowMillis);
        count(address, true, next != Item.NEVER);
    }

    private long removeFromPacked(long location, long address, long nowMillis) {
        long hash = packed(address);
        int length = packedBytes(address);
        int due = PackedHash.countDue(hash, length, nowMillis);
        if (due > 0 && items.isShared(location)) {
            return ExpiryOwner.UNCHANGED;
        }
        long next = earlier(expireAtMillis(address), PackedHash.earliest(hash, length, nowMillis));
        if (due == 0) {
            setNextExamination(location, address, next, nowMillis);
            return next;
        }
        notifyFieldsExpire(address, new DueOfPacked(hash, length, due, nowMillis));
        int left = PackedHash.removeDue(hash, length, nowMillis) + TimedHashLayout.WORD_BYTES;
        items.resizeInPlace(address, Item.TIMED, left);
        fieldsExpired += due;
        notifyFieldsExpired(address);
        setNextExamination(location, address, next, nowMillis);
        tighten(location, address, nowMillis);
        return next;
    }

    /** Frees the unused part of an item, if it is large and there is memory for a smaller copy. */
    private void tighten(long location, long address, long nowMillis) {
        int length = ItemLayout.valueLength(address);
        if (items.fitsInPlace(location, address, length, Item.NEVER)) {
            return;
        }
        long made;
        try {
            made = items.make(ItemLayout.keyAddress(address), ItemLayout.keyLength(address),
                    ItemLayout.database(address),
                    ItemType.ofCode(ItemLayout.type(address)), ItemLayout.encoding(address), length, length,
                    ItemLayout.expireAtMillis(address), ItemLayout.stamp(address), nowMillis);
        } catch (CacheFullException full) {
            // The item keeps its slack until there is memory.
            return;
        }
        Memory.copy(ItemLayout.valueAddress(address), ItemLayout.valueAddress(items.address(made)), length);
        items.replace(items.verifier().hashOf(location), location, made);
    }

    /** The fields of a tree that the next step of the cycle may remove. */
    private record DueOfTree(HashTree hash) implements ChangeListener.Fields {
        @Override
        public int count() {
            return (int) Math.min(MAX_REMOVED_AT_ONCE, hash.size() - hash.visible());
        }

        @Override
        public void forEach(ChangeListener.FieldVisitor visitor) {
            long due = hash.size() - hash.visible();
            for (int i = 0; i < count(); i++) {
                hash.seekByTime(i - due);
                visitor.visit(hash.fieldAddress(), hash.fieldLength());
            }
        }
    }

    /** The due fields of a packed hash. */
    private record DueOfPacked(long hash, int length, int count, long nowMillis) implements ChangeListener.Fields {
        @Override
        public void forEach(ChangeListener.FieldVisitor visitor) {
            for (long entry = PackedHash.first(hash, length); entry != PackedHash.NONE; entry = PackedHash.next(hash,
                    length, entry)) {
                if (PackedHash.isDue(entry, nowMillis)) {
                    visitor.visit(PackedHash.fieldAddress(entry), PackedHash.fieldLength(entry));
                }
            }
        }
    }

    private void notifyFieldsExpire(long address, ChangeListener.Fields fields) {
        if (fields.count() > 0) {
            items.changes().notifyFieldsExpire(context.databases.logical(ItemLayout.database(address)),
                    ItemLayout.keyAddress(address), ItemLayout.keyLength(address), fields);
        }
    }

    private void notifyFieldsExpired(long address) {
        items.changes().changed(Change.FIELDS_EXPIRED, context.databases.logical(ItemLayout.database(address)),
                ItemLayout.keyAddress(address), ItemLayout.keyLength(address));
    }

    /** Counts the fields of a hash that is removed because all of them are due. */
    void emptied(long address) {
        fieldsExpired += ItemLayout.isTree(address) ? open(address, 0).size() : PackedHash.count(packed(address));
    }

    /** Fields that were removed because they were due. */
    public long fieldsExpired() {
        return fieldsExpired;
    }

    void resetStats() {
        fieldsExpired = 0;
    }

    // --- integrity

    /** The problem of an item that the index holds, or null. */
    public @Nullable String problem(long address) {
        if (!isTimed(address)) {
            return null;
        }
        long examineAt = ItemLayout.expireAtMillis(address);
        long expected = examineAtMillis(address, expireAtMillis(address));
        return expected != Item.NEVER && (examineAt == Item.NEVER || examineAt > expected)
                ? "is looked at at " + examineAt + ", and something of it is due at " + expected
                : null;
    }
}
