package io.varve.memory.collection;

import io.varve.memory.collection.tree.HashedFormat;
import io.varve.memory.item.ItemType;

/**
 * A large set, ordered by a seeded hash of its members. Confined to one thread, which holds the lock of the item's
 * shard: see {@link CollectionTree}.
 */
public final class SetTree extends HashedTree {
    public SetTree() {
        super(ItemType.SET, 1, HashedFormat.SET);
    }

    /** Adds a member, and moves to it; false if it existed. */
    public boolean add(long member, int length) {
        long hash = tree.space().hash(member, length);
        if (find(hash, member, length)) {
            return false;
        }
        element.of(hash, member, length);
        insert();
        return true;
    }

    /** The address of the member at the position. */
    public long address() {
        return format.memberAddress(entry());
    }

    /** Bytes of the member at the position. */
    public int length() {
        return HashedFormat.memberLength(entry());
    }
}
