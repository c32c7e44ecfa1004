package io.varve.memory;

/** How many hits and misses some shards had counted at a moment. Confined to one thread; reused. */
public final class Looks {
    private final long[] hits;
    private final long[] misses;

    /** @param shardCount how many shards the cache has */
    public Looks(int shardCount) {
        hits = new long[shardCount];
        misses = new long[shardCount];
    }

    void note(int shard, long hitsSoFar, long missesSoFar) {
        hits[shard] = hitsSoFar;
        misses[shard] = missesSoFar;
    }

    long hits(int shard) {
        return hits[shard];
    }

    long misses(int shard) {
        return misses[shard];
    }
}
