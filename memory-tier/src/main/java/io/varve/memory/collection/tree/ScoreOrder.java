package io.varve.memory.collection.tree;

/**
 * Converts scores to integers with the same order. Immutable: static methods only.
 *
 * <p>The bits of a double, read as an integer, have the order of the doubles, except for negative ones. For those, all
 * bits but the sign are inverted. Negative zero then becomes -1, which no other score does: it is stored as such and
 * ordered as zero.
 */
public final class ScoreOrder {
    private static final long NEGATIVE_ZERO = -1;

    private ScoreOrder() {}

    /** The stored form of a score, which must not be NaN. */
    public static long stored(double score) {
        assert !Double.isNaN(score);
        long bits = Double.doubleToRawLongBits(score);
        return bits >= 0 ? bits : bits ^ Long.MAX_VALUE;
    }

    public static double score(long stored) {
        return Double.longBitsToDouble(stored >= 0 ? stored : stored ^ Long.MAX_VALUE);
    }

    public static long order(long stored) {
        return stored == NEGATIVE_ZERO ? 0 : stored;
    }
}
