package io.varve.memory.eviction;

/**
 * The 24 access bits of an item's header: a clock, a frequency or a residence, depending on the policy. Immutable:
 * static methods with primitive arguments.
 *
 * <pre>
 *   clock      23                                            0
 *              | seconds of the last access, modulo 2^24     |     (194 days, then it wraps)
 *
 *   frequency  23                          8 7               0
 *              | minute of the last access   | log counter   |     (45 days, then it wraps)
 *
 *   residence  23                          8 7               0
 *              | tick of its arrival         | log counter   |     (256 turnovers of the memory, see Residence)
 * </pre>
 *
 * <p>The counter grows with a probability that falls as it grows. It decays by one for each minute without access, so
 * that formerly popular items become evictable. Clock and frequency are those of Redis, whose OBJECT IDLETIME and
 * OBJECT FREQ show them to clients.
 *
 * <p>Bits written under one policy have another meaning under the next: {@link AccessTranslation} converts them. A
 * residence is recognizable without it: the ticks of a new era begin after all clocks and minutes of its start
 * ({@link #time}).
 */
public final class AccessBits {
    private static final int CLOCK_MASK = (1 << 24) - 1;
    private static final int MINUTE_MASK = (1 << 16) - 1;
    private static final int COUNTER_MASK = (1 << 8) - 1;
    private static final int COUNTER_BITS = 8;
    static final long MILLIS_PER_SECOND = 1000;
    private static final long MILLIS_PER_MINUTE = 60_000;

    /** The count of a new item, so that it is not evicted first. */
    static final int INITIAL_COUNT = 5;
    /** The larger, the more accesses it takes to saturate the counter (lfu-log-factor). */
    static final int LOG_FACTOR = 10;

    private AccessBits() {}

    /**
     * The bits of a new item.
     *
     * @param now milliseconds, or for a residence the ticks of {@link ResidenceClock}
     */
    public static int initial(EvictionPolicy policy, long now) {
        if (policy.countsSinceArrival()) {
            return Residence.begun(now);
        }
        return policy.countsFrequency() ? minute(now) << COUNTER_BITS | INITIAL_COUNT : clock(now);
    }

    /**
     * The bits after one more access.
     *
     * @param now milliseconds, or for a residence the ticks of {@link ResidenceClock}
     * @param random bits that decide whether a counter grows
     */
    public static int touched(EvictionPolicy policy, int bits, long now, long random) {
        if (policy.countsSinceArrival()) {
            return Residence.touched(bits, now, random);
        }
        if (!policy.countsFrequency()) {
            return clock(now);
        }
        int count = frequency(bits, now);
        if (count < COUNTER_MASK) {
            int above = Math.max(0, count - INITIAL_COUNT);
            // Grows with probability 1 / (above * factor + 1).
            if ((random >>> 33) % (above * (long) LOG_FACTOR + 1) == 0) {
                count++;
            }
        }
        return minute(now) << COUNTER_BITS | count;
    }

    /** The upper 16 access bits of an item that is accessed now, under a policy that keeps a clock or minutes. */
    public static int time(EvictionPolicy policy, long nowMillis) {
        return initial(policy, nowMillis) >>> COUNTER_BITS;
    }

    /** Milliseconds since the last access, with a resolution of one second, from bits that hold a clock. */
    public static long idleMillis(int bits, long nowMillis) {
        return (clock(nowMillis) - bits & CLOCK_MASK) * MILLIS_PER_SECOND;
    }

    /** The counter after decay, 0 to 255, from bits that hold a frequency. */
    public static int frequency(int bits, long nowMillis) {
        return Math.max(0, (bits & COUNTER_MASK) - minutesSince(bits, nowMillis));
    }

    /** Minutes since the last access, from bits that hold a frequency. */
    static int minutesSince(int bits, long nowMillis) {
        return minute(nowMillis) - (bits >>> COUNTER_BITS) & MINUTE_MASK;
    }

    /** The bits of an item that was last used this long ago, at most the range of the clock. */
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
