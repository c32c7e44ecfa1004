package io.varve.experiments.simulate;

/** A set of well-mixed 64-bit keys, 8 to 16 bytes for each. Confined to one thread. */
final class KeySet {
    private static final int FIRST_SLOTS = 1 << 16;
    private static final long EMPTY = 0;

    private long[] slots = new long[FIRST_SLOTS];
    private int size;

    void add(long key) {
        long stored = key == EMPTY ? 1 : key;
        if (size >= slots.length / 2) {
            grow();
        }
        size += put(slots, stored) ? 1 : 0;
    }

    private static boolean put(long[] slots, long key) {
        int mask = slots.length - 1;
        int slot = (int) key & mask;
        while (slots[slot] != EMPTY && slots[slot] != key) {
            slot = slot + 1 & mask;
        }
        boolean fresh = slots[slot] == EMPTY;
        slots[slot] = key;
        return fresh;
    }

    private void grow() {
        long[] larger = new long[slots.length * 2];
        for (long key : slots) {
            if (key != EMPTY) {
                put(larger, key);
            }
        }
        slots = larger;
    }

    int size() {
        return size;
    }
}
