package io.varve.memory.locality;

/**
 * Numbers from 0 up in buckets that grow with them: a bucket's width is at most a 2^bits-th part of the numbers in it, and numbers below
 * 2^(bits + 1) have one each. Immutable.
 *
 * @param bits    of precision
 * @param largest power of two from which on all numbers share the last bucket
 */
record Scale(int bits, int largest) {
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

    /** The smallest number in a bucket; what is asked for behind the last bucket is the largest number that there is. */
    long lowest(int bucket) {
        if (bucket >= buckets()) {
            return Long.MAX_VALUE;
        }
        int shift = Math.max(0, (bucket >>> bits) - 1);
        return (long) (bucket - (shift << bits)) << shift;
    }
}
