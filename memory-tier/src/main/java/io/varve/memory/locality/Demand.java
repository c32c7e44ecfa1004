package io.varve.memory.locality;

/**
 * What a class asks memory for: how its misses fall with memory, how often it is read, and what a miss costs (pRedis, section 3.3, equation 8). Immutable.
 *
 * @param curve         of the class with memory of its own
 * @param reads         of a window; the paper's access frequency. Writes do not miss
 * @param penaltyMicros of a miss, on average
 */
public record Demand(MissRatioCurve curve, double reads, double penaltyMicros) {
    /** @throws IllegalArgumentException if a number is negative, or none */
    public Demand {
        if (!(reads >= 0 && reads <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("A class is read 0 times or more, not " + reads);
        }
        if (!(penaltyMicros >= 0 && penaltyMicros <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("A penalty is 0 µs or more, not " + penaltyMicros);
        }
    }

    /** What its misses cost in a window with so much memory, µs. */
    public double cost(double bytes) {
        return curve.missRatio(bytes) * reads * penaltyMicros;
    }
}
