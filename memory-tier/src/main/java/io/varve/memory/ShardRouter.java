package io.varve.memory;

import io.varve.memory.index.KeyHash;
import io.varve.memory.item.Key;
import io.varve.memory.item.KeySlots;
import org.jspecify.annotations.Nullable;

/**
 * Maps a key to its shard; no other code does. Immutable.
 *
 * <p>The hash of a key decides, or its slot if keys have slots: all keys of a slot are then in one shard.
 */
final class ShardRouter {
    private static final int SHIFT = 64;

    private final int shardBits;
    private final int mask;
    private final KeyHash keyHash;
    private final @Nullable KeySlots slots;

    /**
     * @param shards a power of two
     * @param slots null if keys have no slots
     */
    ShardRouter(int shards, KeyHash keyHash, @Nullable KeySlots slots) {
        shardBits = Integer.numberOfTrailingZeros(shards);
        mask = shards - 1;
        this.keyHash = keyHash;
        this.slots = slots;
    }

    /** Binds a key to native memory. */
    void bind(Key key, int database, long address, int length) {
        long hash = keyHash.hash(address, length);
        if (slots == null) {
            key.bind(address, length, hash, shard(hash), database);
        } else {
            int slot = slots.slot(address, length);
            key.bind(address, length, hash, shardOfSlot(slot), database);
            key.slot(slot);
        }
    }

    /** The shard of a key in native memory. */
    int shard(long address, int length) {
        return slots == null ? shard(keyHash.hash(address, length)) : shardOfSlot(slots.slot(address, length));
    }

    /**
     * The shard of a key with this hash: its top bits. The index takes its bucket from the bits above the tag, so the
     * two are independent until a table has more than 2^(48 - shard bits) buckets.
     */
    private int shard(long hash) {
        return shardBits == 0 ? 0 : (int) (hash >>> SHIFT - shardBits);
    }

    int shardOfSlot(int slot) {
        return slot & mask;
    }

    /** What assigns keys to slots; null if keys have no slots. */
    @Nullable
    KeySlots slots() {
        return slots;
    }

    int shardBits() {
        return shardBits;
    }
}
