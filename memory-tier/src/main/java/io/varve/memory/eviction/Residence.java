package io.varve.memory.eviction;

/**
 * How often an item was accessed since it came, and how long that is ago: what hyperbolic caching (Blankstein, Sen and
 * Freedman, USENIX ATC 2017) knows of an item. Immutable: static methods with primitive arguments.
 *
 * <p>The counter is Morris's: from {@code c} to {@code c + 1} with probability {@code 1.05^-c}, so that it stands for
 * {@code (1.05^c - 1) / 0.05} accesses, without bias, and with a standard error of {@code sqrt(0.05 / 2)} = 16 %. 255 stands for 5
 * million; it grows no further.
 *
 * <p>Ticks ({@link ResidenceClock}) are told modulo 2^16. An item that is accessed, or looked at by the evictor, when it is
 * older than half of that has its count and its residence halved. That keeps their ratio, which is what it is judged by, and
 * keeps its age from being taken for that of a new one. (Small counts are rounded to one that there is: 3 accesses to 2.) A count
 * of one stays: an item that is so old and was asked for once is the first to go either way.
 *
 * <p>A new item counts one access in one tick, which is more than nearly all have: it has its chance, and sinks the faster the
 * newer it is.
 */
public final class Residence {
    /** Ticks after which an item would look new again. */
    public static final int TICKS = 1 << 16;

    private static final int TICK_MASK = TICKS - 1;
    private static final int COUNTER_BITS = 8;
    private static final int COUNTS = 1 << COUNTER_BITS;
    private static final int COUNTER_MASK = COUNTS - 1;
    private static final double BASE = 1.05;

    /** How many accesses a counter stands for. */
    private static final double[] ACCESSES = new double[COUNTS];
    /** It grows if 63 random bits are below this; the last does not. */
    private static final long[] GROWS_BELOW = new long[COUNTS];
    /** The counter that stands for half as many; at least 1. */
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

    /** The bits of an item that comes now; being made is its first access. */
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

    /** The same bits, or, where the residence is past half of its range, those with half of the count in half of the time. */
    public static int renewed(int bits, long ticks) {
        int resident = resident(bits, ticks);
        return resident <= TICKS / 2
                ? bits
                : bits(ticks - resident / 2, Byte.toUnsignedInt(HALF[bits & COUNTER_MASK]));
    }

    /** How many accesses the counter stands for, at least one. */
    public static double accesses(int bits) {
        // Another policy may have left a counter of 0.
        return Math.max(1, ACCESSES[bits & COUNTER_MASK]);
    }

    /** Ticks since the item came, 0 to {@link #TICKS} less 1. */
    public static int resident(int bits, long ticks) {
        return (int) ticks - (bits >>> COUNTER_BITS) & TICK_MASK;
    }

    private static int bits(long ticks, int count) {
        return ((int) ticks & TICK_MASK) << COUNTER_BITS | count;
    }
}
