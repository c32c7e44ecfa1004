package io.varve.memory.locality;

/** The drawn accesses to the items of one class whose end is not known yet, by how many accesses ago they were. Confined to its recorder. */
final class Waiting {
    private final double[] bytes = new double[ReuseHistograms.TIMES.buckets()];
    private double weight;

    private Waiting() {}

    static Waiting of(FollowedKeys followed, DrawRate rate, long clock, int itemClass) {
        Waiting waiting = new Waiting();
        for (int slot = 0; slot < followed.slots(); slot++) {
            if (followed.used(slot) && followed.itemClass(slot) == itemClass) {
                double accesses = rate.weight(followed.level(slot));
                waiting.bytes[ReuseHistograms.TIMES.bucket(clock - followed.start(slot))] += accesses
                        * followed.bytes(slot);
                waiting.weight += accesses;
            }
        }
        return waiting;
    }

    double bytes(int bucket) {
        return bytes[bucket];
    }

    /** All of them. */
    double weight() {
        return weight;
    }
}
