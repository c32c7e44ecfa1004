package io.varve.memory.expiry;

import java.util.Arrays;

/**
 * Arrays with one value, which the shards share until they write their first entry: most shards of a cache without
 * expiry times never do. Thread-safe: callers only read and clone the arrays.
 *
 * <p>All shards of a cache need the same lengths one after the other, so only the latest array of each kind is kept.
 */
final class EmptyArrays {
    private static volatile int[] latestInts = {};
    private static volatile long[] latestLongs = {};

    private EmptyArrays() {}

    static int[] ints(int length, int value) {
        int[] ints = latestInts;
        if (ints.length != length || length > 0 && ints[0] != value) {
            ints = new int[length];
            Arrays.fill(ints, value);
            latestInts = ints;
        }
        return ints;
    }

    static long[] longs(int length, long value) {
        long[] longs = latestLongs;
        if (longs.length != length || length > 0 && longs[0] != value) {
            longs = new long[length];
            Arrays.fill(longs, value);
            latestLongs = longs;
        }
        return longs;
    }
}
