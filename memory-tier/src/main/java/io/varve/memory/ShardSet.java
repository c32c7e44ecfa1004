package io.varve.memory;

/**
 * A set of shards to lock together. Confined to one thread; reused from command to command.
 */
public final class ShardSet {
    private final long[] words;

    /**
     * @param shardCount how many shards the cache has
     */
    public ShardSet(int shardCount) {
        words = new long[(shardCount + 63) >>> 6];
    }

    public void clear() {
        java.util.Arrays.fill(words, 0);
    }

    public void add(int shard) {
        words[shard >>> 6] |= 1L << shard;
    }

    public boolean contains(int shard) {
        return (words[shard >>> 6] & 1L << shard) != 0;
    }

    /** The first shard of the set at or after {@code from}, or -1. */
    public int next(int from) {
        int word = from >>> 6;
        if (word >= words.length) {
            return -1;
        }
        long bits = words[word] & -1L << from;
        while (bits == 0) {
            if (++word == words.length) {
                return -1;
            }
            bits = words[word];
        }
        return (word << 6) + Long.numberOfTrailingZeros(bits);
    }
}
