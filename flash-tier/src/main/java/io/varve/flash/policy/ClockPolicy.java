package io.varve.flash.policy;

import java.lang.foreign.Arena;
import java.util.BitSet;

/**
 * CLOCK (Corbato 1968): a hand moves around a ring of keys, clears the bit of used ones, and stops at one without a
 * bit. Guarded by {@code this}. A new key takes the victim's place, behind the hand. It takes 16 bytes and two bits a
 * key.
 */
public final class ClockPolicy extends IndexedPolicy {
    private final boolean markInserted;
    /** By entry: whether it was used since the hand passed, and whether it holds a key. */
    private final BitSet used;
    private final BitSet taken;
    private int hand;

    /**
     * @param capacity number of keys that the cache holds, 1 to 2^31 - 1025
     * @param markInserted whether an inserted key is marked
     */
    public ClockPolicy(Arena arena, long capacity, boolean markInserted) {
        super(arena, capacity);
        this.markInserted = markInserted;
        used = new BitSet(table().entries());
        taken = new BitSet(table().entries());
    }

    @Override
    void used(int entry) {
        used.set(entry);
    }

    @Override
    void added(int entry) {
        taken.set(entry);
        used.set(entry, markInserted);
    }

    @Override
    void entryRemoved(int entry) {
        taken.clear(entry);
    }

    @Override
    int choose() {
        while (true) {
            int entry = taken.nextSetBit(hand);
            if (entry < 0) {
                hand = 0;
                continue;
            }
            hand = entry + 1;
            countVisit();
            if (!used.get(entry)) {
                taken.clear(entry);
                return entry;
            }
            used.clear(entry);
        }
    }

    @Override
    public long ramBytes() {
        return table().ramBytes() + (used.size() + taken.size()) / Byte.SIZE;
    }
}
