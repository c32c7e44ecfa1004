package io.varve.memory.shard;

import io.varve.memory.collection.HashTree;
import io.varve.memory.collection.NodeSpace;
import io.varve.memory.collection.PackedHash;
import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.collection.TreeHeader;
import io.varve.memory.expiry.ExpiryOwner;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import org.jspecify.annotations.Nullable;

/**
 * Hashes whose fields may have times, each an item of the shard. Guarded by the shard's lock.
 *
 * <p>The expiry field of such an item tells when it is looked at next: not later than its key expires or the first of its fields is due;
 * when the key itself expires stands in the value ({@link TimedHashLayout}). So whoever looks for a key asks one question, as for
 * any other, and the expiry knows one time for each item. A field that is due is seen by nobody; it is removed by the expiry cycle
 * alone.
 *
 * <p>INVARIANT: the expiry field is never later than the time of any field, or than that of the key; it may be earlier.
 */
final class TimedHashes {
    /** Fields of a tree that are removed at once: some 100 µs of work. */
    private static final int MOST_AT_ONCE = 32;

    private final ShardItems items;
    private final ShardContext context;
    private final HashTree tree = new HashTree();
    private long fieldsExpired;
    /** Hashes that count as such. */
    private final long[] counts = new long[Databases.PHYSICAL];

    TimedHashes(ShardItems items, ShardContext context) {
        this.items = items;
        this.context = context;
    }

    // --- what is known of an item

    /** Whether fields of an item may have times. */
    static boolean isTimed(long address) {
        return isTimedOf(address, ItemLayout.header(address));
    }

    /** The same of an item with this header. */
    static boolean isTimedOf(long address, long header) {
        int encoding = ItemLayout.encodingOf(header);
        return encoding >= Item.TIMED && ItemLayout.typeOf(header) == ItemType.HASH.code()
                && (encoding == Item.TIMED
                        || TimedHashLayout.isTimedHeader(ItemLayout.valueLengthOf(address, header)));
    }

    private static long word(long address) {
        return TimedHashLayout.word(ItemLayout.valueAddress(address), ItemLayout.isTree(address));
    }

    /** When the key of an item of any kind expires, or {@link Item#NEVER}. */
    static long expireAtMillis(long address) {
        return expireAtMillisOf(address, ItemLayout.header(address));
    }

    /** The same of an item with this header. */
    static long expireAtMillisOf(long address, long header) {
        long lookAt = ItemLayout.expireAtMillisOf(address, header);
        return lookAt == Item.NEVER || !isTimedOf(address, header)
                ? lookAt
                : TimedHashLayout.expireAtMillis(word(address));
    }

    /** Whether the time of an item of any kind has come, or that of all that it has. */
    boolean isGone(long address, long nowMillis) {
        return ShardItems.isPast(ItemLayout.expireAtMillis(address), nowMillis)
                && (!isTimed(address) || wayOf(address, nowMillis) != null);
    }

    /** What it is told as that an item is gone: {@link Change#EXPIRED} or {@link Change#EMPTIED}; null if it is not. */
    @Nullable
    Change wayOf(long address, long nowMillis) {
        if (ShardItems.isPast(expireAtMillis(address), nowMillis)) {
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
        tree.open(items.trees().nodes(), ItemLayout.valueAddress(address), ItemLayout.valueLength(address), nowMillis);
        return tree;
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
     * Whether an item of any kind is a hash that is looked at for its fields' sake. One whose fields have lost their times counts until the
     * cycle has seen that, or its key has expired: who takes a time away does not look which others there are.
     */
    static boolean countsAsTimed(long address) {
        return isTimed(address) && ItemLayout.expireAtMillis(address) != Item.NEVER;
    }

    /** Counts an item that {@link #countsAsTimed}, or does no more. */
    void count(long address, boolean before, boolean now) {
        if (before != now) {
            counts[ItemLayout.database(address)] += now ? 1 : -1;
        }
    }

    /** How many there are that {@linkplain #countsAsTimed count so}. */
    long timedOf(int physical) {
        return counts[physical];
    }

    /** Whether any field of such a hash has a time, or its tree of times has nodes yet. */
    boolean hasTimes(long address) {
        return ItemLayout.isTree(address)
                ? TreeHeader.root(TreeHeader.record(ItemLayout.valueAddress(address), 1)) != NodeSpace.NONE
                : earliest(address) != Item.NEVER;
    }

    /** The earlier of two times, of which each may be {@link Item#NEVER}. */
    static long earlier(long one, long another) {
        return one == Item.NEVER ? another : another == Item.NEVER ? one : Math.min(one, another);
    }

    /** When the key of an item expires or the first field is due that is not yet, or {@link Item#NEVER}. */
    long changesAtMillis(long address, long nowMillis) {
        long expireAtMillis = expireAtMillis(address);
        if (!isTimed(address)) {
            return expireAtMillis;
        }
        return earlier(expireAtMillis, ItemLayout.isTree(address)
                ? open(address, nowMillis).earliest()
                : PackedHash.earliest(packed(address), packedBytes(address), nowMillis));
    }

    /** When an item is to be looked at whose key has this expiry time. */
    long lookAtMillis(long address, long expireAtMillis) {
        return earlier(expireAtMillis, earliest(address));
    }

    /** The same of a value that is not yet an item's, or of what is no such hash. */
    static long lookAtMillis(ItemType type, int encoding, long value, int valueLength, long expireAtMillis) {
        if (type != ItemType.HASH || encoding != Item.TIMED) {
            return expireAtMillis;
        }
        return earlier(expireAtMillis, PackedHash.earliest(value + TimedHashLayout.WORD_BYTES,
                valueLength - TimedHashLayout.WORD_BYTES, 0));
    }

    /** The same of a packed hash's value on the heap. */
    static long lookAtMillis(byte[] value, int from, int valueLength, long expireAtMillis) {
        return earlier(expireAtMillis, PackedHash.earliest(value, from + TimedHashLayout.WORD_BYTES,
                from + valueLength));
    }

    /** The key of an item has another expiry time; when it is looked at is the caller's to change. */
    static void expireAtMillis(long address, long expireAtMillis) {
        TimedHashLayout.expireAtMillis(word(address), expireAtMillis);
    }

    /** From when on a packed item is not there, however that comes about, or {@link Item#NEVER}. */
    static long endMillis(long address) {
        long expireAtMillis = expireAtMillis(address);
        return isTimed(address) && !ItemLayout.isTree(address)
                ? earlier(expireAtMillis, PackedHash.latest(packed(address), packedBytes(address)))
                : expireAtMillis;
    }

    // --- the expiry cycle

    /** Removes what is due, for {@link ExpiryOwner#pastItsTime}; the item may have another place then. */
    long removeDue(long location, long address, long nowMillis) {
        if (!isTimed(address) || wayOf(address, nowMillis) != null) {
            return ExpiryOwner.GOES;
        }
        return ItemLayout.isTree(address)
                ? removeFromTree(location, address, nowMillis)
                : removeFromPacked(location, address, nowMillis);
    }

    private long removeFromTree(long location, long address, long nowMillis) {
        items.trees().nodes().now(nowMillis);
        HashTree hash = open(address, nowMillis);
        long word = word(address);
        boolean hadBegun = TimedHashLayout.isGoing(word);
        int removed = hash.removeDue(MOST_AT_ONCE);
        boolean isGoing = hash.hides();
        TimedHashLayout.going(word, isGoing);
        fieldsExpired += removed;
        if (removed > 0 && !(hadBegun && isGoing)) {
            // At the beginning and at the end, not a thousand times in between.
            tell(address);
        }
        long next = isGoing
                ? hash.earliestOfAll()
                : earlier(TimedHashLayout.expireAtMillis(word), hash.earliestOfAll());
        lookAgain(location, address, next, nowMillis);
        return next;
    }

    private void lookAgain(long location, long address, long next, long nowMillis) {
        items.lookAt(location, address, next, nowMillis);
        count(address, true, next != Item.NEVER);
    }

    private long removeFromPacked(long location, long address, long nowMillis) {
        long hash = packed(address);
        int length = packedBytes(address);
        int due = PackedHash.countDue(hash, length, nowMillis);
        if (due > 0 && items.isShared(location)) {
            return ExpiryOwner.STAYS;
        }
        long next = earlier(expireAtMillis(address), PackedHash.earliest(hash, length, nowMillis));
        if (due == 0) {
            lookAgain(location, address, next, nowMillis);
            return next;
        }
        int left = PackedHash.removeDue(hash, length, nowMillis) + TimedHashLayout.WORD_BYTES;
        items.resizeInPlace(address, Item.TIMED, left);
        fieldsExpired += due;
        tell(address);
        lookAgain(location, address, next, nowMillis);
        tighten(location, address, nowMillis);
        return next;
    }

    /** Gives back what a value does not use of its item, if that is much and there is room to move it. */
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
            // It wastes room until there is some.
            return;
        }
        Memory.copy(ItemLayout.valueAddress(address), ItemLayout.valueAddress(items.address(made)), length);
        items.replace(items.verifier().hashOf(location), location, made);
    }

    private void tell(long address) {
        items.changed(Change.FIELDS_EXPIRED, context.databases.logical(ItemLayout.database(address)),
                ItemLayout.keyAddress(address), ItemLayout.keyLength(address));
    }

    /** A hash goes with all its fields, which are due. */
    void emptied(long address) {
        fieldsExpired += ItemLayout.isTree(address) ? open(address, 0).size() : PackedHash.count(packed(address));
    }

    /** Fields that went because they were due. */
    long fieldsExpired() {
        return fieldsExpired;
    }

    void resetStats() {
        fieldsExpired = 0;
    }

    // --- integrity

    /** What is wrong with an item that is in the index, or null. */
    @Nullable
    String problem(long address) {
        if (!isTimed(address)) {
            return null;
        }
        long lookAt = ItemLayout.expireAtMillis(address);
        long expected = lookAtMillis(address, expireAtMillis(address));
        return expected != Item.NEVER && (lookAt == Item.NEVER || lookAt > expected)
                ? "is looked at at " + lookAt + ", and something of it is due at " + expected
                : null;
    }
}
