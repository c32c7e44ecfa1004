package io.varve.memory.locality;

/**
 * What has become of the drawn accesses to the items of one class, by how many accesses later it did. Confined to its recorder.
 *
 * <p>An item's stay in its place in the LRU stack ends with the next access to it, or because it goes: deleted or expired. Both are counted
 * in bytes, apart, as the paper's {@code access_rth} and {@code delete_rth}; the reads among the accesses, which alone can hit, are counted too.
 */
final class ReuseHistograms {
    /** Reuse times, exact to 1.6 %. Behind 2^48 accesses is never. */
    static final Scale TIMES = new Scale(6, 48);
    /** For how long a class has been there, exact to an eighth. */
    static final Scale AGES = new Scale(3, 48);
    /** How many accesses there had been before anything of the class was drawn. */
    final long begun;
    /** Since then. */
    final Exposure exposure;

    /** Bytes that were accessed again. */
    final TimeHistogram accessed = new TimeHistogram();
    /** Bytes that went. */
    final TimeHistogram gone = new TimeHistogram();
    /** Reads that came again. */
    final TimeHistogram reads = new TimeHistogram();
    /** Reads, by how many accesses there had been since the class began: of these no earlier access can be longer ago. */
    final double[] readsAtAge = new double[AGES.buckets()];
    /** Bytes still waited for when the present period began, less what is forgotten of them, by how long they had waited. */
    final TimeHistogram before = new TimeHistogram();
    /** All that were drawn and whose end is known, and those of {@link #before}. */
    double ended;
    double endedBefore;
    /** Accesses after which an item is there, as many as the drawn ones stand for; what these items took; and the reads. */
    double drawn;
    double drawnBytes;
    double drawnReads;

    ReuseHistograms(long begun) {
        this.begun = begun;
        exposure = new Exposure(AGES, begun);
    }

    /** Reads are drawn, now that there have been so many accesses. */
    void addDrawnReads(double reads, long clock) {
        drawnReads += reads;
        readsAtAge[AGES.bucket(clock - begun)] += reads;
    }

    /** Adds {@link #readsAtAge} to those of a class that had begun as early or earlier. */
    void addReadsAtAge(double[] sum, long earlier) {
        for (int i = 0; i < readsAtAge.length; i++) {
            sum[begun == earlier ? i : AGES.bucket(AGES.lowest(i) + begun - earlier)] += readsAtAge[i];
        }
    }

    /**
     * Reads that were drawn lately belong to another class after all.
     *
     * @param reads no more than there are
     */
    void removeDrawnReads(double reads, long clock) {
        drawnReads -= reads;
        double left = reads;
        for (int i = AGES.bucket(clock - begun); i >= 0 && left > 0; i--) {
            double taken = Math.min(left, readsAtAge[i]);
            readsAtAge[i] -= taken;
            left -= taken;
        }
    }

    /** Ends the period: what is waited for now was waited for before the next one began. */
    void forget(double keep, Waiting waiting, long clock) {
        for (int i = 0; i < TIMES.buckets(); i++) {
            before.put(i, waiting.bytes(i) - keep * (waiting.bytes(i) - before.get(i)));
        }
        accessed.scale(keep);
        gone.scale(keep);
        reads.scale(keep);
        for (int i = 0; i < readsAtAge.length; i++) {
            readsAtAge[i] *= keep;
        }
        exposure.forget(keep, clock);
        endedBefore = waiting.weight() - keep * (waiting.weight() - endedBefore);
        ended *= keep;
        drawn *= keep;
        drawnBytes *= keep;
        drawnReads *= keep;
    }

    /** What these take in memory, but for single numbers. */
    long bytes() {
        return accessed.bytes() + gone.bytes() + reads.bytes() + before.bytes()
                + (long) readsAtAge.length * Double.BYTES
                + Exposure.bytes(AGES);
    }
}
