package io.varve.memory.collection;

import io.varve.memory.item.ItemType;

/**
 * A large hash, in the order of a seeded hash of its fields. Confined to one thread, which holds the lock of the item's shard: see
 * {@link CollectionTree}.
 */
public final class HashTree extends CollectionTree {
    private static final HashedFormat FORMAT = HashedFormat.HASH;

    private final MemberSearch search = new MemberSearch(tree, FORMAT, path);
    private final Element element = new Element();

    public HashTree() {
        super(ItemType.HASH, 1, new CountedTree(FORMAT));
    }

    /** Goes to a field; false, and at the end, if it is not there. */
    public boolean find(long field, int length) {
        return found(search.find(tree.space().hash(field, length), field, length));
    }

    private boolean found(boolean there) {
        atElement = there;
        pathKnown = there;
        return there;
    }

    /** Gives a field a value, and stands at it; false if the field was there. */
    public boolean put(long field, int length, long value, int valueLength) {
        long hash = tree.space().hash(field, length);
        boolean there = found(search.find(hash, field, length));
        element.of(hash, field, length, value, valueLength);
        if (there) {
            tree.replace(element, path);
        } else {
            tree.insert(element, path);
        }
        found(true);
        return !there;
    }

    /** Removes a field, and stands at what was behind it; false, and at the end, if it was not there. */
    public boolean remove(long field, int length) {
        if (!find(field, length)) {
            return false;
        }
        remove();
        return true;
    }

    /** Where the field at the position is. */
    public long fieldAddress() {
        requireElement();
        return FORMAT.memberAddress(tree.entry(path));
    }

    /** Bytes of the field at the position. */
    public int fieldLength() {
        requireElement();
        return HashedFormat.memberLength(tree.entry(path));
    }

    /** Where the value of the field at the position is. */
    public long valueAddress() {
        requireElement();
        return FORMAT.valueAddress(tree.entry(path));
    }

    /** Bytes of the value of the field at the position. */
    public int valueLength() {
        requireElement();
        return FORMAT.valueLength(tree.entry(path));
    }

    /** As {@link SetTree#scan}, for fields. */
    public long scan(long cursor, int count, Runnable visit) {
        pathKnown = true;
        atElement = true;
        long next = HashedScan.scan(tree, element, path, cursor, count, visit);
        toEnd();
        return next;
    }
}
