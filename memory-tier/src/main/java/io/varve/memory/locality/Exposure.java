package io.varve.memory.locality;

/**
 * In how many accesses of the stream an interval of a given length could have ended: no access that is younger than the stream ends one that is
 * older. Confined to its recorder.
 */
final class Exposure {
    static final long BYTES = (long) ReuseHistograms.TIMES.buckets() * Double.BYTES;

    /** Of periods that have ended, by length of the interval. */
    private final double[] earlier = new double[ReuseHistograms.TIMES.buckets()];
    private long periodStart;

    /** Accesses of the present period. */
    long period(long clock) {
        return clock - periodStart;
    }

    /** @param bucket whose shortest interval is meant */
    double of(int bucket, long clock) {
        return earlier[bucket] + present(bucket, clock);
    }

    private double present(int bucket, long clock) {
        return Math.max(0, clock - Math.max(periodStart, ReuseHistograms.TIMES.lowest(bucket)));
    }

    void forget(double keep, long clock) {
        for (int i = 0; i < earlier.length; i++) {
            earlier[i] = keep * of(i, clock);
        }
        periodStart = clock;
    }
}
