package io.varve.memory.locality;

/**
 * In how many accesses of the stream an interval of a given length could have ended: no access that is younger than the stream, or than the class it is
 * about, ends one that is older. Confined to its recorder.
 */
final class Exposure {
    private final Scale scale;
    private final long begun;
    /** Of periods that have ended, by the shortest length of a bucket. */
    private final double[] earlier;
    private long periodStart;

    /**
     * @param scale in which lengths are told apart; between two of its buckets the numbers are taken to fall evenly
     * @param begun how many accesses there were before
     */
    Exposure(Scale scale, long begun) {
        this.scale = scale;
        this.begun = begun;
        earlier = new double[scale.buckets()];
        periodStart = begun;
    }

    /** What one takes in memory. */
    static long bytes(Scale scale) {
        return (long) scale.buckets() * Double.BYTES;
    }

    /** Accesses of the present period. */
    long period(long clock) {
        return clock - periodStart;
    }

    /** @param length of the interval, 0 or more */
    double of(long length, long clock) {
        return earlier(length) + present(length, clock);
    }

    private double earlier(long length) {
        long longest = periodStart - begun;
        if (length >= longest) {
            return 0;
        }
        int bucket = scale.bucket(length);
        long lowest = scale.lowest(bucket);
        // Nothing was older than the stream, wherever its bucket ends.
        long end = Math.min(scale.lowest(bucket + 1), longest);
        double atEnd = end == longest ? 0 : earlier[bucket + 1];
        return earlier[bucket] + (atEnd - earlier[bucket]) * (length - lowest) / (end - lowest);
    }

    private double present(long length, long clock) {
        return Math.max(0, clock - Math.max(periodStart, begun + length));
    }

    void forget(double keep, long clock) {
        for (int i = 0; i < earlier.length; i++) {
            earlier[i] = keep * (earlier[i] + present(scale.lowest(i), clock));
        }
        periodStart = clock;
    }
}
