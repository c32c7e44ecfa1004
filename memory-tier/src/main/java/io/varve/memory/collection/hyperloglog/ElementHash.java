package io.varve.memory.collection.hyperloglog;

import io.varve.memory.offheap.Memory;

/**
 * Austin Appleby's MurmurHash2 in its 64-bit form for 64-bit machines, with Redis's seed. Immutable: static methods
 * only.
 */
final class ElementHash {
    private static final long SEED = 0xadc83b19L;
    private static final long MULTIPLIER = 0xc6a4a7935bd1e995L;
    private static final int SHIFT = 47;

    private ElementHash() {}

    static long of(long address, int length) {
        long hash = SEED ^ length * MULTIPLIER;
        int whole = length & -Long.BYTES;
        for (int i = 0; i < whole; i += Long.BYTES) {
            long word = Memory.getLong(address + i) * MULTIPLIER;
            word ^= word >>> SHIFT;
            hash = (hash ^ word * MULTIPLIER) * MULTIPLIER;
        }
        if (whole < length) {
            for (int i = whole; i < length; i++) {
                hash ^= (Memory.getByte(address + i) & 0xFFL) << Byte.SIZE * (i - whole);
            }
            hash *= MULTIPLIER;
        }
        hash ^= hash >>> SHIFT;
        hash *= MULTIPLIER;
        return hash ^ hash >>> SHIFT;
    }
}
