package io.varve.memory.locality.partition;

import io.varve.memory.locality.curve.MissRatioCurve;

/**
 * The demand of a class for memory: its miss-ratio curve, its reads, and the cost of a miss (pRedis, section 3.3,
 * equation 8). Immutable.
 *
 * @param curve the curve of the class with memory of its own
 * @param reads reads in a window; the paper's access frequency. Writes do not miss
 * @param penaltyMicros the mean cost of a miss in µs
 */
public record Demand(MissRatioCurve curve, double reads, double penaltyMicros) {
    /** @throws IllegalArgumentException if a number is negative or not finite */
    public Demand {
        if (!(reads >= 0 && reads <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("The number of reads must be at least 0, not " + reads);
        }
        if (!(penaltyMicros >= 0 && penaltyMicros <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("A penalty must be at least 0 µs, not " + penaltyMicros);
        }
    }

    /** The cost of the class's misses in a window with this memory, µs. */
    public double cost(double bytes) {
        return curve.missRatio(bytes) * reads * penaltyMicros;
    }
}
