package io.varve.memory.locality;

/** How memory was divided among classes. Immutable. */
public final class Shares {
    private final long[] bytes;
    private final double costMicros;

    /** @param bytes by class, not changed any more */
    Shares(long[] bytes, double costMicros) {
        this.bytes = bytes;
        this.costMicros = costMicros;
    }

    public int classes() {
        return bytes.length;
    }

    /** What a class may take; all together are the memory that was divided. */
    public long bytes(int penaltyClass) {
        return bytes[penaltyClass];
    }

    /** What all misses of a window cost with these shares, µs, as the curves tell. */
    public double costMicros() {
        return costMicros;
    }
}
