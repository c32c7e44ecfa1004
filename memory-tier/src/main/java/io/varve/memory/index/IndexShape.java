package io.varve.memory.index;

/**
 * The distribution of an index's entries, which determines the cost of a lookup. Immutable.
 *
 * @param buckets index buckets of all tables
 * @param inHome entries found with one cache line
 * @param inExtension entries found with two cache lines
 * @param inOverflow entries found in an overflow
 * @param extended home buckets with an extension bucket: a miss there reads two lines
 * @param overflowed home buckets whose misses search the overflow
 * @param longestOverflow the most entries of one home bucket in an overflow
 */
public record IndexShape(long buckets, long inHome, long inExtension, long inOverflow, long extended, long overflowed,
        long longestOverflow) {
    static IndexShape of(IndexTable table) {
        long inHome = 0;
        long inExtension = 0;
        long extended = 0;
        long overflowed = 0;
        long longestOverflow = 0;
        for (long b = 0; b < table.buckets(); b++) {
            long bucket = table.bucketAddress(b);
            inHome += Integer.bitCount(IndexBucketLayout.natives(bucket));
            inExtension += Integer.bitCount(IndexBucketLayout.foreigners(bucket));
            extended += IndexBucketLayout.next(bucket) == IndexBucketLayout.NO_BUCKET ? 0 : 1;
            if (IndexBucketLayout.overflowed(bucket)) {
                overflowed++;
                longestOverflow = Math.max(longestOverflow, entriesOf(b, table.overflow));
            }
        }
        return new IndexShape(table.buckets(), inHome, inExtension, table.overflow.count(), extended, overflowed,
                longestOverflow);
    }

    private static long entriesOf(long home, Overflow overflow) {
        long entries = 0;
        for (int node = overflow.firstOfHome(home); node != Overflow.NONE; node = overflow.nextOfHome(node)) {
            entries++;
        }
        return entries;
    }

    IndexShape plus(IndexShape other) {
        return new IndexShape(buckets + other.buckets, inHome + other.inHome, inExtension + other.inExtension,
                inOverflow + other.inOverflow, extended + other.extended, overflowed + other.overflowed,
                Math.max(longestOverflow, other.longestOverflow));
    }

    /** Slots of all buckets. */
    public long slots() {
        return buckets * IndexBucketLayout.SLOTS;
    }

    /** The share of used slots. */
    public double load() {
        return (double) (inHome + inExtension) / slots();
    }

    /** Entries in home buckets, extension buckets and overflows. */
    public long entries() {
        return inHome + inExtension + inOverflow;
    }
}
