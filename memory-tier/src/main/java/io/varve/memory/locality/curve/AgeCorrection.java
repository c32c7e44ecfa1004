package io.varve.memory.locality.curve;

/**
 * Counts the accesses in which an interval of a given length could have ended. Confined to its recorder. An interval
 * cannot be longer than the stream, or than the class, has existed, so an early access cannot end a long one.
 */
final class AgeCorrection {
    private final LogBuckets scale;
    private final long begun;
    /** The counts of ended periods, for the shortest length of each bucket. */
    private final double[] earlier;
    private long periodStart;

    /**
     * @param scale the buckets of lengths; within a bucket, counts are interpolated linearly
     * @param begun the number of earlier accesses
     */
    AgeCorrection(LogBuckets scale, long begun) {
        this.scale = scale;
        this.begun = begun;
        earlier = new double[scale.buckets()];
        periodStart = begun;
    }

    /** The memory of one in bytes. */
    static long bytes(LogBuckets scale) {
        return (long) scale.buckets() * Double.BYTES;
    }

    /** Accesses of the present period. */
    long period(long clock) {
        return clock - periodStart;
    }

    /** @param length the length of the interval, 0 or more */
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
