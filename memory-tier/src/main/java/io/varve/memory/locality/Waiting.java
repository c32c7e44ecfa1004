package io.varve.memory.locality;

/** The drawn accesses to the items of one class whose end is not known yet, by how many accesses ago they were. Confined to one thread. */
final class Waiting {
    private final double[] bytes = new double[ReuseHistograms.TIMES.buckets()];
    private double weight;

    static Waiting[] ofClasses(int classes) {
        Waiting[] waiting = new Waiting[classes];
        for (int i = 0; i < classes; i++) {
            waiting[i] = new Waiting();
        }
        return waiting;
    }

    /**
     * @param accesses  that the drawn one stands for
     * @param itemBytes of its item
     * @param age       how many accesses ago it was
     */
    void add(double accesses, long itemBytes, long age) {
        bytes[ReuseHistograms.TIMES.bucket(age)] += accesses * itemBytes;
        weight += accesses;
    }

    double bytes(int bucket) {
        return bytes[bucket];
    }

    /** All of them. */
    double weight() {
        return weight;
    }
}
