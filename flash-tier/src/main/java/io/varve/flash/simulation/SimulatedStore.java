package io.varve.flash.simulation;

import io.varve.flash.policy.ClockHand;

/**
 * The keys of a cache in hash order: a hash table with open addressing. Confined to one thread. A B-tree of hashed keys
 * has the same order, in which the hand meets keys independently of their age.
 */
final class SimulatedStore {
    private static final long EMPTY = 0;
    /** Slots for each key. */
    private static final int SPACE = 2;

    private final long[] slots;
    private int size;
    /** The slot that the hand visited last. */
    private int at = -1;

    /** @param capacity number of keys, 1 to 2^29 */
    SimulatedStore(int capacity) {
        slots = new long[Math.multiplyExact(capacity + 1, SPACE)];
    }

    /** The table cannot distinguish key 0 from an empty slot: it is stored as 1, a collision like any other. */
    private static long stored(long key) {
        return key == EMPTY ? 1 : key;
    }

    int size() {
        return size;
    }

    boolean contains(long key) {
        return slots[find(stored(key))] != EMPTY;
    }

    /** @param key one that is absent */
    void insert(long key) {
        long stored = stored(key);
        slots[find(stored)] = stored;
        size++;
    }

    /** @param key one that is present */
    void remove(long key) {
        int slot = find(stored(key));
        if (slots[slot] == EMPTY) {
            throw new IllegalStateException("A policy chose a key that is not cached");
        }
        size--;
        if (slot == at) {
            // The key that moves into this slot was not visited yet.
            at--;
        }
        close(slot);
    }

    /** Moves the keys after an empty slot forward, unless one would then be before its home slot. */
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

    /** @param maxSteps maximum number of keys that one search visits */
    Hand hand(int maxSteps) {
        return new Hand(maxSteps);
    }

    /** The only hand: its position belongs to the store. */
    final class Hand implements ClockHand {
        private final int maxSteps;
        private int steps;

        private Hand(int maxSteps) {
            this.maxSteps = maxSteps;
        }

        /** Begins another search. */
        void begin() {
            steps = 0;
        }

        /** Number of keys that this search has visited. */
        int steps() {
            return steps;
        }

        @Override
        public boolean next() {
            if (size == 0 || steps >= maxSteps) {
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
