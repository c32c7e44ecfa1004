package io.varve.memory;

/** Maps a key to its shard; no other code does. Immutable. */
final class ShardRouter {
    private static final int SHIFT = 64;

    private final int shardBits;

    /** @param shards a power of two */
    ShardRouter(int shards) {
        shardBits = Integer.numberOfTrailingZeros(shards);
    }

    /**
     * The shard of a key with this hash: its top bits. The index takes its bucket from the bits above the tag, so the
     * two are independent until a table has more than 2^(48 - shard bits) buckets.
     */
    int shard(long hash) {
        return shardBits == 0 ? 0 : (int) (hash >>> SHIFT - shardBits);
    }

    int shardBits() {
        return shardBits;
    }
}
