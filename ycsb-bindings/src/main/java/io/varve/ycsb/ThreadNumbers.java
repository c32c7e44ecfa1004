package io.varve.ycsb;

import java.util.BitSet;

/**
 * Numbers the live clients of this process, from 0, so that each has its own random stream. Guarded by {@code this}. It
 * assigns the lowest free number, so a second run in one process draws the values of the first.
 */
final class ThreadNumbers {

    private final BitSet taken = new BitSet();

    synchronized int take() {
        int number = taken.nextClearBit(0);
        taken.set(number);
        return number;
    }

    synchronized void release(int number) {
        taken.clear(number);
    }
}
