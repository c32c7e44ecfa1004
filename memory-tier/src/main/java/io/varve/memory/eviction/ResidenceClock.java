package io.varve.memory.eviction;

/**
 * The clock by which hyperbolic caching measures residence: it counts how often the memory could have been refilled.
 * Guarded by the shard's lock.
 *
 * <p>A tick is the time in which {@link #TICKS_PER_TURNOVER}th parts of the shard's capacity are written. (pRedis,
 * section 2.1, also measures residence by a logical clock.) With it, 16 bits have the same precision for a cache that
 * fills in a second and for one that fills in a month. Seconds would not distinguish the items of the first, and would
 * make the oldest items of the second look new. If nothing is written, nothing has to be evicted, and no time passes.
 * The cleaner meets an item about once in a turnover, long before its ticks wrap.
 */
public final class ResidenceClock {
    public static final int TICKS_PER_TURNOVER = 256;

    private long ticks;
    private long begun;
    private long countedBytes;

    /**
     * Begins a new era.
     *
     * @param first its first tick
     * @param writtenBytes the bytes written so far
     */
    public void begin(long first, long writtenBytes) {
        ticks = first;
        begun = first;
        countedBytes = writtenBytes;
    }

    /** The ticks of this era so far, as of the last reading: no item has been resident for longer. */
    public long passed() {
        return ticks - begun;
    }

    /**
     * The present tick.
     *
     * @param writtenBytes the bytes that clients have written to the shard
     * @param shardBytes the capacity of the shard; a change affects later ticks only
     */
    public long ticks(long writtenBytes, long shardBytes) {
        long tickBytes = Math.max(1, shardBytes / TICKS_PER_TURNOVER);
        long bytes = writtenBytes - countedBytes;
        if (bytes >= tickBytes) {
            long passed = bytes / tickBytes;
            ticks += passed;
            countedBytes += passed * tickBytes;
        }
        return ticks;
    }
}
