package io.varve.memory.collection;

/**
 * Scores as numbers that are ordered as they are. Immutable: static methods only.
 *
 * <p>The bits of a double, read as a number, are ordered as the doubles are, but for negative ones, whose bits other than the
 * sign are turned. Negative zero then is -1, and no other score is: it is kept as such and ordered as zero.
 */
final class ScoreOrder {
    private static final long NEGATIVE_ZERO = -1;

    private ScoreOrder() {}

    /** What is stored of a score that is a number. */
    static long stored(double score) {
        assert !Double.isNaN(score);
        long bits = Double.doubleToRawLongBits(score);
        return bits >= 0 ? bits : bits ^ Long.MAX_VALUE;
    }

    static double score(long stored) {
        return Double.longBitsToDouble(stored >= 0 ? stored : stored ^ Long.MAX_VALUE);
    }

    static long order(long stored) {
        return stored == NEGATIVE_ZERO ? 0 : stored;
    }
}
