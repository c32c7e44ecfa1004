package io.varve.memory.report;

/** The hit and miss counters of some shards at one moment. Confined to one thread; reused. */
public final class HitMissSnapshot {
    private final long[] hits;
    private final long[] misses;

    /** @param shardCount the number of shards of the cache */
    public HitMissSnapshot(int shardCount) {
        hits = new long[shardCount];
        misses = new long[shardCount];
    }

    public void note(int shard, long hitsSoFar, long missesSoFar) {
        hits[shard] = hitsSoFar;
        misses[shard] = missesSoFar;
    }

    public long hits(int shard) {
        return hits[shard];
    }

    public long misses(int shard) {
        return misses[shard];
    }
}
