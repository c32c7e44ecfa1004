package io.varve.memory.compared;

import java.util.SplittableRandom;

import org.apache.commons.math3.distribution.ZipfDistribution;
import org.apache.commons.math3.random.Well19937c;

/**
 * A precomputed stream of operations and keys: 80 % reads; the rest is one third each of updates, removals, and puts of
 * removed keys. Immutable.
 *
 * <p>Keys to read and to update follow a zipfian distribution with YCSB's constant 0.99, scattered over all numbers so
 * that neighbours are not equally hot. Removed keys are drawn uniformly, because a cache rarely evicts hot ones, and
 * return after {@value #AWAY} further removals. So the number of entries stays constant, the stream may be repeated
 * without end, and few reads miss.
 */
public final class Operations {
    /** Kinds, in the top bits of an operation; the other bits are the key's number. */
    public static final int READ = 0;
    public static final int UPDATE = 1;
    public static final int REMOVE = 2;
    public static final int PUT_NEW = 3;

    /** Maximum number of absent keys at any time. */
    public static final int AWAY = 1024;

    /** Large enough that the keys do not stay in a processor's cache; fewer keys need fewer operations. */
    private static final int MAX_OPERATIONS = 1 << 21;
    private static final int PER_ENTRY = 16;
    private static final int READ_PERCENT = 80;
    private static final int KIND_SHIFT = 30;
    private static final double ZIPFIAN_CONSTANT = 0.99;
    private static final long SCATTER = 0x9E37_79B9_7F4A_7C15L;

    private final int[] operations;

    /** @param entries number of keys, which are numbered from 0, at most 2^30 */
    public Operations(int entries, int seed) {
        if (entries < 1 || entries > 1 << KIND_SHIFT) {
            throw new IllegalArgumentException(entries + " entries: expected 1 to " + (1 << KIND_SHIFT));
        }
        operations = new int[(int) Math.min(MAX_OPERATIONS, Long.highestOneBit((long) entries * PER_ENTRY))];
        SplittableRandom random = new SplittableRandom(seed);
        ZipfDistribution ranks = new ZipfDistribution(new Well19937c(seed), entries, ZIPFIAN_CONSTANT);
        int removals = 0;
        for (int i = 0; i < operations.length; i++) {
            boolean read = random.nextInt(100) < READ_PERCENT;
            int kind = read ? READ : 1 + random.nextInt(3);
            if (kind == PUT_NEW || kind == REMOVE) {
                // Alternates, so that there are as many of either.
                kind = (removals++ & 1) == 0 ? REMOVE : PUT_NEW;
            }
            int number = kind == REMOVE ? random.nextInt(entries) : scatter(ranks.sample(), entries);
            operations[i] = kind << KIND_SHIFT | number;
        }
        putBack(entries);
    }

    private static int scatter(long rank, int entries) {
        long mixed = rank * SCATTER;
        mixed = (mixed ^ mixed >>> 32) * SCATTER;
        return (int) Math.unsignedMultiplyHigh(mixed, entries);
    }

    /** Assigns to each put the key that was removed {@link #AWAY} removals before it; the stream is a ring. */
    private void putBack(int entries) {
        int[] removed = new int[operations.length];
        int removals = 0;
        for (int operation : operations) {
            if (kind(operation) == REMOVE) {
                removed[removals++] = number(operation);
            }
        }
        int away = Math.min(AWAY, entries / 100);
        int puts = 0;
        for (int i = 0; i < operations.length; i++) {
            if (kind(operations[i]) == PUT_NEW) {
                int from = Math.floorMod(puts++ - away, removals);
                operations[i] = PUT_NEW << KIND_SHIFT | removed[from];
            }
        }
    }

    /** An operation of the endless ring. */
    public int get(int index) {
        return operations[index & operations.length - 1];
    }

    /** Number of operations in the ring, a power of two. */
    public int count() {
        return operations.length;
    }

    public static int kind(int operation) {
        return operation >>> KIND_SHIFT;
    }

    public static int number(int operation) {
        return operation & (1 << KIND_SHIFT) - 1;
    }
}
