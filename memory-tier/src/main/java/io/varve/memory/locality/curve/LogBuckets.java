package io.varve.memory.locality.curve;

/**
 * Buckets for numbers from 0 up that grow with the numbers. Immutable. A bucket's width is at most a 2^bits-th part of
 * the numbers in it, and each number below 2^(bits + 1) has its own bucket.
 *
 * @param bits the precision
 * @param largest the power of two from which on all numbers share the last bucket
 */
record LogBuckets(int bits, int largest) {
    int buckets() {
        return (largest - bits + 1 << bits) + 1;
    }

    int bucket(long value) {
        if (value >>> largest != 0) {
            return buckets() - 1;
        }
        int shift = Math.max(0, Long.SIZE - 1 - Long.numberOfLeadingZeros(value | 1) - bits);
        return (shift << bits) + (int) (value >>> shift);
    }

    /** The smallest number in a bucket; behind the last bucket, the largest long. */
    long lowest(int bucket) {
        if (bucket >= buckets()) {
            return Long.MAX_VALUE;
        }
        int shift = Math.max(0, (bucket >>> bits) - 1);
        return (long) (bucket - (shift << bits)) << shift;
    }
}
