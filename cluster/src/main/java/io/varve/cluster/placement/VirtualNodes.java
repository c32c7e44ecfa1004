package io.varve.cluster.placement;

import java.util.Arrays;

import com.dynatrace.hash4j.hashing.HashStream64;
import com.dynatrace.hash4j.hashing.Hashing;

/**
 * The identifiers of a member on a {@link HashRing}: unsigned 64-bit numbers, one for each virtual node. Immutable.
 * Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store", sections 3.2 and 4.2.
 *
 * <p>Random identifiers are hashes of the member's ID, a number and a seed, so that every controller computes the same
 * ones. A member with more identifiers keeps those that it has with fewer, so that a greater weight only adds to its
 * part of the ring.
 */
public final class VirtualNodes {
    /** The greatest number of identifiers of a member. */
    public static final int MAX_COUNT = 1 << 16;

    private final String memberId;
    /** Ascending in signed order, because each is XORed with {@link Long#MIN_VALUE}. */
    private final long[] sorted;

    private VirtualNodes(String memberId, long[] identifiers) {
        this.memberId = memberId;
        sorted = new long[identifiers.length];
        for (int i = 0; i < sorted.length; i++) {
            sorted[i] = HashRing.signed(identifiers[i]);
        }
        Arrays.sort(sorted);
    }

    /**
     * Identifiers that an administrator has chosen.
     *
     * @throws IllegalArgumentException if there is none, or one of them twice
     */
    public static VirtualNodes given(String memberId, long... identifiers) {
        if (identifiers.length == 0 || identifiers.length > MAX_COUNT) {
            throw new IllegalArgumentException("member " + memberId + " has " + identifiers.length
                    + " identifiers: expected 1 to " + MAX_COUNT);
        }
        if (Arrays.stream(identifiers).distinct().count() < identifiers.length) {
            throw new IllegalArgumentException("member " + memberId + " has an identifier twice");
        }
        return new VirtualNodes(memberId, identifiers);
    }

    /**
     * Random identifiers, equal for equal arguments.
     *
     * @throws IllegalArgumentException if the count is not from 1 to {@link #MAX_COUNT}
     */
    public static VirtualNodes random(String memberId, int count, long seed) {
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException(
                    "member " + memberId + ": " + count + " identifiers: expected 1 to " + MAX_COUNT);
        }
        HashStream64 hash = Hashing.xxh3_64(seed).hashStream();
        long[] identifiers = new long[count];
        for (int i = 0; i < count; i++) {
            identifiers[i] = hash.reset().putString(memberId).putInt(i).getAsLong();
        }
        return new VirtualNodes(memberId, identifiers);
    }

    /**
     * The number of identifiers in proportion to a member's weight, rounded; at least 1.
     *
     * @param perWeight the number at weight 1
     * @throws IllegalArgumentException if it is more than {@link #MAX_COUNT}
     */
    public static int count(double weight, int perWeight) {
        double count = Math.max(1, Math.rint(weight * perWeight));
        if (!(count <= MAX_COUNT)) {
            throw new IllegalArgumentException("weight " + weight + " with " + perWeight
                    + " identifiers for weight 1: expected at most " + MAX_COUNT + " identifiers");
        }
        return (int) count;
    }

    public String memberId() {
        return memberId;
    }

    /** Number of identifiers. */
    public int count() {
        return sorted.length;
    }

    /** The identifiers in ascending order as unsigned numbers. */
    public long[] identifiers() {
        return Arrays.stream(sorted).map(HashRing::signed).toArray();
    }

    /** The identifiers in the order and the form in which the ring has them; not to be changed. */
    long[] sorted() {
        return sorted;
    }
}
