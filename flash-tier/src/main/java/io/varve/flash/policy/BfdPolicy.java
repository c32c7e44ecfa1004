package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.random.RandomGenerator;

import io.varve.flash.bloom.BloomFilter;

/**
 * BFD, a Bloom filter with deletion (Ungureanu and others 2013, section II): it marks hits, and a victim is an unmarked
 * key. Many threads mark; the searching thread guards everything else.
 *
 * <p>The hand unmarks each key that it passes: it resets the bits of a random subset of the functions, which may unmark
 * other keys too.
 */
public final class BfdPolicy extends SearchingPolicy {
    /** The paper's parameters: bits for a key, and functions. */
    public static final int BITS = 8;
    public static final int HASHES = 5;

    private final BloomFilter marked;
    private final boolean markInserted;
    private final RandomGenerator random;

    /**
     * @param capacity number of keys that the cache holds, 1 or more
     * @param bits number of bits for a key, 1 or more
     * @param markInserted whether an inserted key is marked; the paper leaves it unmarked
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

    /** Unmarks it, since the hand will not meet it again. */
    @Override
    public void removed(long key) {
        unmark(key);
    }

    @Override
    public boolean findVictim(ClockHand clockHand) {
        boolean any = false;
        while (clockHand.next()) {
            long key = clockHand.key();
            countVisit();
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

    /** Resets the bits of at least one function and at most all. */
    private void unmark(long key) {
        marked.remove(key, 1 + random.nextInt((1 << marked.hashes()) - 1));
    }

    @Override
    public long ramBytes() {
        return marked.ramBytes();
    }
}
