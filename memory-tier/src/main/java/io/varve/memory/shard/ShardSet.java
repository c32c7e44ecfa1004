package io.varve.memory.shard;

/** A set of shards to lock together. Confined to one thread; reused for successive commands. */
public final class ShardSet {
    private final long[] words;

    /** @param shardCount the number of shards of the cache */
    public ShardSet(int shardCount) {
        words = new long[(shardCount + 63) >>> 6];
    }

    public void clear() {
        java.util.Arrays.fill(words, 0);
    }

    public void add(int shard) {
        words[shard >>> 6] |= 1L << shard;
    }

    public void remove(int shard) {
        words[shard >>> 6] &= ~(1L << shard);
    }

    /** Adds the shards of another set of the same size. */
    public void addAll(ShardSet other) {
        for (int i = 0; i < words.length; i++) {
            words[i] |= other.words[i];
        }
    }

    /** Whether it has all shards of another set of the same size. */
    public boolean containsAll(ShardSet other) {
        for (int i = 0; i < words.length; i++) {
            if ((other.words[i] & ~words[i]) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Removes the shards that are in another set of the same size. */
    public void removeAll(ShardSet other) {
        for (int i = 0; i < words.length; i++) {
            words[i] &= ~other.words[i];
        }
    }

    /** Whether one of its shards is in another set of the same size. */
    public boolean intersects(ShardSet other) {
        for (int i = 0; i < words.length; i++) {
            if ((words[i] & other.words[i]) != 0) {
                return true;
            }
        }
        return false;
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
