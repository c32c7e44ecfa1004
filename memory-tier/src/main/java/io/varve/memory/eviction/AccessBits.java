package io.varve.memory.eviction;

/**
 * The 24 access bits of an item's header, which are a clock or a frequency as the policy asks. Immutable: static methods
 * with primitive arguments.
 *
 * <pre>
 *   clock      23                                            0
 *              | seconds of the last access, modulo 2^24     |     (194 days, then it wraps)
 *
 *   frequency  23                          8 7               0
 *              | minute of the last access   | log counter   |     (45 days, then it wraps)
 * </pre>
 *
 * <p>The counter grows with a probability that falls as it grows, and decays by one for each minute without access, so
 * that what was popular yesterday does not stay for ever. Both forms are those of Redis, whose OBJECT IDLETIME and
 * OBJECT FREQ show them to clients.
 */
public final class AccessBits {
    private static final int CLOCK_MASK = (1 << 24) - 1;
    private static final int MINUTE_MASK = (1 << 16) - 1;
    private static final int COUNTER_MASK = (1 << 8) - 1;
    private static final int COUNTER_BITS = 8;
    private static final long MILLIS_PER_SECOND = 1000;
    private static final long MILLIS_PER_MINUTE = 60_000;

    /** A new item starts here, so that it is not the first to go before it had a chance. */
    static final int INITIAL_COUNT = 5;
    /** The larger, the more accesses it takes to saturate the counter (lfu-log-factor). */
    static final int LOG_FACTOR = 10;

    private AccessBits() {}

    /** The bits of an item made now. */
    public static int initial(EvictionPolicy policy, long nowMillis) {
        return policy.countsFrequency() ? minute(nowMillis) << COUNTER_BITS | INITIAL_COUNT : clock(nowMillis);
    }

    /**
     * The bits after one more access.
     *
     * @param random bits that decide whether a frequency grows
     */
    public static int touched(EvictionPolicy policy, int bits, long nowMillis, long random) {
        if (!policy.countsFrequency()) {
            return clock(nowMillis);
        }
        int count = frequency(bits, nowMillis);
        if (count < COUNTER_MASK) {
            int above = Math.max(0, count - INITIAL_COUNT);
            // Grows with probability 1 / (above * factor + 1).
            if ((random >>> 33) % (above * (long) LOG_FACTOR + 1) == 0) {
                count++;
            }
        }
        return minute(nowMillis) << COUNTER_BITS | count;
    }

    /** Milliseconds since the last access, to the second, of bits that hold a clock. */
    public static long idleMillis(int bits, long nowMillis) {
        return (clock(nowMillis) - bits & CLOCK_MASK) * MILLIS_PER_SECOND;
    }

    /** The counter after decay, 0 to 255, of bits that hold a frequency. */
    public static int frequency(int bits, long nowMillis) {
        int minutes = minute(nowMillis) - (bits >>> COUNTER_BITS) & MINUTE_MASK;
        return Math.max(0, (bits & COUNTER_MASK) - minutes);
    }

    /** The bits of an item that was used last so long ago; longer than the clock tells is as long as it tells. */
    public static int idle(long idleSeconds, long nowMillis) {
        return clock(nowMillis) - (int) Math.min(idleSeconds, CLOCK_MASK) & CLOCK_MASK;
    }

    /** The bits of an item with a counter of 0 to 255. */
    public static int counted(int frequency, long nowMillis) {
        return minute(nowMillis) << COUNTER_BITS | frequency;
    }

    private static int clock(long nowMillis) {
        return (int) (nowMillis / MILLIS_PER_SECOND) & CLOCK_MASK;
    }

    private static int minute(long nowMillis) {
        return (int) (nowMillis / MILLIS_PER_MINUTE) & MINUTE_MASK;
    }
}
