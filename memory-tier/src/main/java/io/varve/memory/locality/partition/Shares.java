package io.varve.memory.locality.partition;

/** The result of partitioning memory among classes. Immutable. */
public final class Shares {
    private final long[] bytes;
    private final double costMicros;

    /** @param bytes by class; must not be changed later */
    Shares(long[] bytes, double costMicros) {
        this.bytes = bytes;
        this.costMicros = costMicros;
    }

    /** The share of a class; all shares sum up to the partitioned memory. */
    public long bytes(int penaltyClass) {
        return bytes[penaltyClass];
    }

    /** The estimated cost of all misses in a window with these shares, µs, from the curves. */
    public double costMicros() {
        return costMicros;
    }
}
