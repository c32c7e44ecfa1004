package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.random.RandomGenerator;

import io.varve.flash.bloom.BloomFilter;

/**
 * BFD, a Bloom filter with deletion (Ungureanu and others 2013, section II): hits are marked, a victim is a key that is not,
 * and the hand takes the mark of a key that it passes away, by resetting the bits of some of the functions, which ones by
 * chance. That may take other keys' marks away too.
 *
 * <p>Many threads mark; the rest is guarded by whoever searches.
 */
public final class BfdPolicy extends SearchingPolicy {
    /** The paper's: bits for a key, and functions. */
    public static final int BITS = 8;
    public static final int HASHES = 5;

    private final BloomFilter marked;
    private final boolean markInserted;
    private final RandomGenerator random;

    /**
     * @param capacity     keys that the cache holds, 1 or more
     * @param bits         for a key, 1 or more
     * @param markInserted whether a key is marked when it is inserted; the paper leaves it unmarked
     */
    public BfdPolicy(Arena arena, long capacity, int bits, int hashes, boolean markInserted, RandomGenerator random) {
        marked = new BloomFilter(arena, capacity * bits, hashes);
        this.markInserted = markInserted;
        this.random = random;
    }

    @Override
    public void hit(long key) {
        marked.add(key);
    }

    @Override
    public void inserted(long key) {
        if (markInserted) {
            marked.add(key);
        }
    }

    /** The hand will not come by it any more. */
    @Override
    public void removed(long key) {
        unmark(key);
    }

    @Override
    public boolean findVictim(KeyHand hand) {
        boolean any = false;
        while (hand.next()) {
            long key = hand.key();
            looked();
            if (!marked.mightContain(key)) {
                choose(key);
                return true;
            }
            unmark(key);
            if (!any) {
                any = true;
                choose(key);
            }
        }
        if (any) {
            chosePoorly();
        }
        return any;
    }

    /** Of one function at the least and of all at the most. */
    private void unmark(long key) {
        marked.remove(key, 1 + random.nextInt((1 << marked.hashes()) - 1));
    }

    @Override
    public long ramBytes() {
        return marked.ramBytes();
    }
}
