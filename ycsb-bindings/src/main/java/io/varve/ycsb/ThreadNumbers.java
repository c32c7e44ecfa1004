package io.varve.ycsb;

import java.util.BitSet;

/**
 * Numbers the clients that are alive in this process, from 0, so that each draws from a random stream of its own. Guarded
 * by itself. The lowest free number is given: a second run in the same process draws what the first drew.
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
