package io.varve.memory.eviction;

/**
 * The number of accesses to an item since it arrived, and the time since then, as hyperbolic caching needs them
 * (Blankstein, Sen and Freedman, USENIX ATC 2017). Immutable: static methods with primitive arguments.
 *
 * <p>The counter is a Morris counter: it goes from {@code c} to {@code c + 1} with probability {@code 1.05^-c}. It
 * stands for {@code (1.05^c - 1) / 0.05} accesses, without bias, and with a standard error of {@code sqrt(0.05 / 2)} =
 * 16 %. 255 stands for 5 million; it grows no further.
 *
 * <p>Ticks ({@link ResidenceClock}) are stored modulo 2^16. If an item is older than half of that range when it is
 * accessed or examined by the evictor, its count and its residence are halved. Halving keeps their ratio, which
 * determines the score, and keeps an old item from looking new. (Small counts are rounded to a representable one: 3
 * accesses to 2.) A count of one stays: an item so old with one access is evicted first in any case.
 *
 * <p>A new item counts one access in one tick, a higher rate than nearly all others have. It is protected at first, and
 * its rate falls the faster the newer it is.
 */
public final class Residence {
    /** Ticks after which an item would look new again. */
    public static final int TICKS = 1 << 16;

    private static final int TICK_MASK = TICKS - 1;
    private static final int COUNTER_BITS = 8;
    private static final int COUNTS = 1 << COUNTER_BITS;
    private static final int COUNTER_MASK = COUNTS - 1;
    private static final double BASE = 1.05;

    /** The number of accesses that a counter stands for. */
    private static final double[] ACCESSES = new double[COUNTS];
    /** The counter grows if 63 random bits are below this; the last value does not grow. */
    private static final long[] GROWS_BELOW = new long[COUNTS];
    /** The counter that stands for half as many accesses; at least 1. */
    private static final byte[] HALF = new byte[COUNTS];

    static {
        for (int count = 0; count < COUNTS; count++) {
            ACCESSES[count] = (Math.pow(BASE, count) - 1) / (BASE - 1);
            GROWS_BELOW[count] = count == COUNTS - 1 ? 0 : (long) (Math.pow(BASE, -count) * Long.MAX_VALUE);
        }
        int half = 1;
        for (int count = 1; count < COUNTS; count++) {
            while (ACCESSES[half + 1] + ACCESSES[half] <= ACCESSES[count]) {
                half++;
            }
            HALF[count] = (byte) half;
        }
        HALF[0] = 1;
    }

    private Residence() {}

    /** The bits of a new item; its creation is its first access. */
    public static int begun(long ticks) {
        return bits(ticks, 1);
    }

    /**
     * The bits after one more access.
     *
     * @param random 64 random bits that decide whether the counter grows
     */
    public static int touched(int bits, long ticks, long random) {
        int renewed = renewed(bits, ticks);
        return random >>> 1 < GROWS_BELOW[renewed & COUNTER_MASK] ? renewed + 1 : renewed;
    }

    /** The bits unchanged, or, if the residence exceeds half of its range, with both count and residence halved. */
    public static int renewed(int bits, long ticks) {
        int resident = resident(bits, ticks);
        return resident <= TICKS / 2
                ? bits
                : bits(ticks - resident / 2, Byte.toUnsignedInt(HALF[bits & COUNTER_MASK]));
    }

    /** The number of accesses that the counter stands for, at least one. */
    public static double accesses(int bits) {
        // Another policy may have left a counter of 0.
        return Math.max(1, ACCESSES[bits & COUNTER_MASK]);
    }

    /** Ticks since the item arrived, 0 to {@link #TICKS} less 1. */
    public static int resident(int bits, long ticks) {
        return (int) ticks - (bits >>> COUNTER_BITS) & TICK_MASK;
    }

    private static int bits(long ticks, int count) {
        return ((int) ticks & TICK_MASK) << COUNTER_BITS | count;
    }
}
