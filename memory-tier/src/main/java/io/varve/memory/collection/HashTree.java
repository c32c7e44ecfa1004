package io.varve.memory.collection;

import io.varve.memory.item.ItemType;

/**
 * A large hash, in the order of a seeded hash of its fields. Confined to one thread, which holds the lock of the item's shard: see
 * {@link CollectionTree}.
 */
public final class HashTree extends HashedTree {
    public HashTree() {
        super(ItemType.HASH, HashedFormat.HASH);
    }

    /** Gives a field a value, and stands at it; false if the field was there. */
    public boolean put(long field, int length, long value, int valueLength) {
        long hash = tree.space().hash(field, length);
        boolean there = find(hash, field, length);
        element.of(hash, field, length, value, valueLength);
        if (there) {
            replace();
        } else {
            insert();
        }
        return !there;
    }

    /** Where the field at the position is. */
    public long fieldAddress() {
        return format.memberAddress(entry());
    }

    /** Bytes of the field at the position. */
    public int fieldLength() {
        return HashedFormat.memberLength(entry());
    }

    /** Where the value of the field at the position is. */
    public long valueAddress() {
        return format.valueAddress(entry());
    }

    /** Bytes of the value of the field at the position. */
    public int valueLength() {
        return format.valueLength(entry());
    }
}
