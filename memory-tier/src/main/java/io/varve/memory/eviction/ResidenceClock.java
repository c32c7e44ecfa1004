package io.varve.memory.eviction;

/**
 * The time by which hyperbolic caching says how long items are in memory: how often the memory could have been filled anew.
 * Guarded by the shard's lock.
 *
 * <p>A tick is the time in which {@link #TICKS_PER_TURNOVER}th parts of what a shard may hold are written. (pRedis, section 2.1,
 * measures residence by a logical clock too.) So 16 bits are enough for a cache that is filled in a second and for one that is
 * filled in a month, with the same precision: with seconds, one would not tell its items apart, and the other would see its oldest
 * items as new. Where nothing is written nothing has to go, and no time passes. The cleaner, which meets an item about once in a
 * turnover, does so long before its ticks wrap.
 */
public final class ResidenceClock {
    public static final int TICKS_PER_TURNOVER = 256;

    private long ticks;
    private long begun;
    private long countedBytes;

    /**
     * A new era begins.
     *
     * @param first        its first tick
     * @param writtenBytes so far
     */
    public void begin(long first, long writtenBytes) {
        ticks = first;
        begun = first;
        countedBytes = writtenBytes;
    }

    /** The ticks that have passed in this era, as far as they were asked for: an item has been there no longer. */
    public long passed() {
        return ticks - begun;
    }

    /**
     * The tick that it is.
     *
     * @param writtenBytes by clients into the shard, since it is there
     * @param shardBytes   what the shard may hold; if it changes, what passes from then on has other ticks
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
