package io.varve.flash.simulation;

import io.varve.flash.policy.KeyHand;

/**
 * The keys of a cache, in the order of their hashes: as a B-tree of hashed keys keeps them, so that the order in which the hand
 * meets them says nothing of when they came. A table with open addressing. Confined to one thread.
 */
final class SimulatedStore {
    private static final long EMPTY = 0;
    /** Slots for a key. */
    private static final int SPACE = 2;

    private final long[] slots;
    private int size;
    /** The slot that the hand has looked at last. */
    private int at = -1;

    /** @param capacity keys, 1 to 2^29 */
    SimulatedStore(int capacity) {
        slots = new long[Math.multiplyExact(capacity + 1, SPACE)];
    }

    /** A table cannot tell a key of 0 from none: it is taken for 1, a collision as any other. */
    private static long stored(long key) {
        return key == EMPTY ? 1 : key;
    }

    int size() {
        return size;
    }

    boolean contains(long key) {
        return slots[find(stored(key))] != EMPTY;
    }

    /** @param key one that is not there */
    void insert(long key) {
        long stored = stored(key);
        slots[find(stored)] = stored;
        size++;
    }

    /** @param key one that is there */
    void remove(long key) {
        int slot = find(stored(key));
        if (slots[slot] == EMPTY) {
            throw new IllegalStateException("A policy chose a key that is not cached");
        }
        size--;
        if (slot == at) {
            // What moves into the place of the key was not looked at yet.
            at--;
        }
        close(slot);
    }

    /** Moves those behind a slot that is empty now forward, as far as they would not stand before their home. */
    private void close(int from) {
        int gap = from;
        int slot = next(from);
        while (slots[slot] != EMPTY) {
            int home = home(slots[slot]);
            boolean stays = gap <= slot ? gap < home && home <= slot : gap < home || home <= slot;
            if (!stays) {
                slots[gap] = slots[slot];
                gap = slot;
            }
            slot = next(slot);
        }
        slots[gap] = EMPTY;
    }

    private int find(long key) {
        int slot = home(key);
        while (slots[slot] != EMPTY && slots[slot] != key) {
            slot = next(slot);
        }
        return slot;
    }

    private int home(long key) {
        return (int) Math.unsignedMultiplyHigh(key, slots.length);
    }

    private int next(int slot) {
        return slot + 1 == slots.length ? 0 : slot + 1;
    }

    /** @param mostSteps keys that one search may look at */
    Hand hand(int mostSteps) {
        return new Hand(mostSteps);
    }

    /** The only one: it stands where the store does. */
    final class Hand implements KeyHand {
        private final int mostSteps;
        private int steps;

        private Hand(int mostSteps) {
            this.mostSteps = mostSteps;
        }

        /** Another search begins. */
        void begin() {
            steps = 0;
        }

        /** Keys that this search has looked at. */
        int steps() {
            return steps;
        }

        @Override
        public boolean next() {
            if (size == 0 || steps >= mostSteps) {
                return false;
            }
            steps++;
            do {
                at = SimulatedStore.this.next(at);
            } while (slots[at] == EMPTY);
            return true;
        }

        @Override
        public long key() {
            return slots[at];
        }
    }
}
