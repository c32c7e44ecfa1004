package io.varve.memory.locality.curve;

/**
 * The sampled accesses to the items of one class whose end is not known yet, by their age in accesses. Confined to one
 * thread.
 */
public final class PendingSamples {
    private final double[] bytes = new double[ReuseHistograms.TIMES.buckets()];
    private double weight;

    public static PendingSamples[] ofClasses(int classes) {
        PendingSamples[] pending = new PendingSamples[classes];
        for (int i = 0; i < classes; i++) {
            pending[i] = new PendingSamples();
        }
        return pending;
    }

    /**
     * @param accesses the number of accesses that the sample stands for
     * @param itemBytes bytes of its item
     * @param age its age in accesses
     */
    void add(double accesses, long itemBytes, long age) {
        bytes[ReuseHistograms.TIMES.bucket(age)] += accesses * itemBytes;
        weight += accesses;
    }

    double bytes(int bucket) {
        return bytes[bucket];
    }

    /** The number of accesses that all of them stand for. */
    double weight() {
        return weight;
    }
}
