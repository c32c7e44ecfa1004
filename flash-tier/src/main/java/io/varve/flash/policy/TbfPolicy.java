package io.varve.flash.policy;

import java.lang.foreign.Arena;

import io.varve.flash.bloom.BloomFilter;

/**
 * TBF, two Bloom sub-filters (Ungureanu and others 2013, section II): hits are marked in the current one, and a victim
 * is a key in neither. Many threads mark; the searching thread guards everything else.
 *
 * <p>After as many visited keys as the cache holds, the filters flip: the previous one is cleared and becomes the
 * current one. So a hit is remembered for one to two rounds of the hand, in one byte a key.
 *
 * <p>A search that ends without an unmarked key takes one that only the previous filter holds, if it met one.
 */
public final class TbfPolicy extends SearchingPolicy {
    /** The paper's parameters: bits of each sub-filter for a key, and functions. */
    public static final int BITS = 4;
    public static final int HASHES = 3;

    private static final int NOTHING = 0;
    private static final int IN_CURRENT = 1;
    private static final int IN_PREVIOUS = 2;

    private final long capacity;
    private final boolean markInserted;
    private volatile BloomFilter current;
    private volatile BloomFilter previous;
    /** Number of visited keys after which the filters flip. */
    private long round;
    private long sinceFlip;
    private long flips;

    /**
     * @param capacity number of keys that the cache holds, 1 or more
     * @param bits number of bits of each sub-filter for a key, 1 or more
     * @param markInserted whether an inserted key is marked; the paper leaves it unmarked
     */
    public TbfPolicy(Arena arena, long capacity, int bits, int hashes, boolean markInserted) {
        this.capacity = capacity;
        round = capacity;
        this.markInserted = markInserted;
        current = new BloomFilter(arena, capacity * bits, hashes);
        previous = new BloomFilter(arena, capacity * bits, hashes);
    }

    @Override
    public void hit(long key) {
        current.add(key);
    }

    @Override
    public void inserted(long key) {
        if (markInserted) {
            current.add(key);
        }
    }

    /** Its marks expire with all others. */
    @Override
    public void removed(long key) {
        // Bits of a Bloom filter belong to several keys.
    }

    @Override
    public void holds(long keys) {
        round = Math.clamp(keys, 1, capacity);
    }

    @Override
    public boolean findVictim(ClockHand clockHand) {
        int found = NOTHING;
        while (clockHand.next()) {
            long key = clockHand.key();
            int marked = mark(key);
            countKey();
            if (marked == NOTHING) {
                choose(key);
                return true;
            }
            if (marked > found) {
                found = marked;
                choose(key);
            }
        }
        if (found == NOTHING) {
            return false;
        }
        chosePoorly();
        return true;
    }

    private int mark(long key) {
        if (current.mightContain(key)) {
            return IN_CURRENT;
        }
        return previous.mightContain(key) ? IN_PREVIOUS : NOTHING;
    }

    private void countKey() {
        countVisit();
        sinceFlip++;
        if (sinceFlip >= round) {
            flip();
        }
    }

    private void flip() {
        sinceFlip = 0;
        flips++;
        BloomFilter emptied = previous;
        previous = current;
        // A concurrent hit is marked in the filter that was current, which is queried as the previous one.
        emptied.clear();
        current = emptied;
    }

    /** Number of flips. */
    public long flips() {
        return flips;
    }

    @Override
    public long ramBytes() {
        return current.ramBytes() + previous.ramBytes();
    }
}
