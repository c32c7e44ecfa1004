package io.varve.memory.locality.curve;

/**
 * Histograms of how the sampled accesses to the items of one class ended, by reuse time in accesses. Confined to its
 * recorder.
 *
 * <p>An item's stay in its place in the LRU stack ends with the next access to it, or when it is deleted or expires.
 * Both are counted separately in bytes, as the paper's {@code access_rth} and {@code delete_rth}. The reads among the
 * accesses, which alone can hit, are counted too.
 */
final class ReuseHistograms {
    /** Reuse times, exact to 1.6 %. Times beyond 2^48 accesses count as never. */
    static final LogBuckets TIMES = new LogBuckets(6, 48);
    /** Ages of a class, exact to an eighth. */
    static final LogBuckets AGES = new LogBuckets(3, 48);
    /** The number of accesses before the first sample of the class. */
    final long begun;
    /** The correction for the age of the class. */
    final AgeCorrection ageCorrection;

    /** Bytes that were accessed again. */
    final TimeHistogram accessed = new TimeHistogram();
    /** Bytes that were removed. */
    final TimeHistogram removed = new TimeHistogram();
    /** Reads that were repeated. */
    final TimeHistogram reads = new TimeHistogram();
    /** Reads by the age of the class at that time: the previous access cannot be longer ago. */
    final double[] readsAtAge = new double[AGES.buckets()];
    /** Bytes that were pending when the present period began, less the forgotten part, by their age then. */
    final TimeHistogram before = new TimeHistogram();
    /** The samples whose end is known, and those of {@link #before}. */
    double ended;
    double endedBefore;
    /** Accesses that left an item, as many as the samples stand for; the bytes of these items; and the reads. */
    double sampled;
    double sampledBytes;
    double sampledReads;

    ReuseHistograms(long begun) {
        this.begun = begun;
        ageCorrection = new AgeCorrection(AGES, begun);
    }

    /** Adds sampled reads at the present clock. */
    void addSampledReads(double reads, long clock) {
        sampledReads += reads;
        readsAtAge[AGES.bucket(clock - begun)] += reads;
    }

    /** Adds {@link #readsAtAge} to those of a class that began at the same time or earlier. */
    void addReadsAtAge(double[] sum, long earlier) {
        for (int i = 0; i < readsAtAge.length; i++) {
            sum[begun == earlier ? i : AGES.bucket(AGES.lowest(i) + begun - earlier)] += readsAtAge[i];
        }
    }

    /**
     * Removes recently sampled reads that belong to another class.
     *
     * @param reads at most the present number
     */
    void removeSampledReads(double reads, long clock) {
        sampledReads -= reads;
        double left = reads;
        for (int i = AGES.bucket(clock - begun); i >= 0 && left > 0; i--) {
            double taken = Math.min(left, readsAtAge[i]);
            readsAtAge[i] -= taken;
            left -= taken;
        }
    }

    /** Ends the period: the samples pending now are those pending at the start of the next. */
    void forget(double keep, PendingSamples pending, long clock) {
        for (int i = 0; i < TIMES.buckets(); i++) {
            before.put(i, pending.bytes(i) - keep * (pending.bytes(i) - before.get(i)));
        }
        accessed.scale(keep);
        removed.scale(keep);
        reads.scale(keep);
        for (int i = 0; i < readsAtAge.length; i++) {
            readsAtAge[i] *= keep;
        }
        ageCorrection.forget(keep, clock);
        endedBefore = pending.weight() - keep * (pending.weight() - endedBefore);
        ended *= keep;
        sampled *= keep;
        sampledBytes *= keep;
        sampledReads *= keep;
    }

    /** The memory of these in bytes, without single numbers. */
    long bytes() {
        return accessed.bytes() + removed.bytes() + reads.bytes() + before.bytes()
                + (long) readsAtAge.length * Double.BYTES
                + AgeCorrection.bytes(AGES);
    }
}
