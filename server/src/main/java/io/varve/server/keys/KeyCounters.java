package io.varve.server.keys;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

import io.varve.memory.offheap.Memory;

/**
 * A counting filter over keys: it rules most keys out without a lookup. Many threads: atomic counters.
 *
 * <p>Each key has a counter, chosen by its hash and possibly shared with other keys. Only keys whose counter is not
 * zero pay for the allocation that a lookup needs.
 */
public final class KeyCounters {
    private static final int COUNTERS = 4096;
    /** Constants of FNV-1a. */
    private static final int HASH_SEED = 0x811C9DC5;
    private static final int HASH_FACTOR = 0x01000193;

    private final AtomicIntegerArray counters = new AtomicIntegerArray(COUNTERS);
    /** The longest key that was ever added, bytes. */
    private final AtomicInteger longest = new AtomicInteger();

    /** Adds a key. */
    public void add(HeapKey key) {
        longest.accumulateAndGet(key.name().length(), Math::max);
        counters.incrementAndGet(counterOf(key));
    }

    /** Removes a key that was added. */
    public void remove(HeapKey key) {
        counters.decrementAndGet(counterOf(key));
    }

    /**
     * Whether the key may be one of those that were added; false is certain. A key longer than all of them is ruled out
     * at once.
     */
    public boolean mightContain(int database, long address, int length) {
        if (length > longest.get()) {
            return false;
        }
        int hash = HASH_SEED;
        for (int i = 0; i < length; i++) {
            hash = mix(hash, Memory.getByte(address + i));
        }
        return counters.get(counterOf(hash, database)) != 0;
    }

    private static int counterOf(HeapKey key) {
        int hash = HASH_SEED;
        for (int i = 0; i < key.name().length(); i++) {
            hash = mix(hash, (byte) key.name().charAt(i));
        }
        return counterOf(hash, key.database());
    }

    private static int mix(int hash, byte b) {
        return (hash ^ b & 0xFF) * HASH_FACTOR;
    }

    private static int counterOf(int hash, int database) {
        int mixed = hash + database * 0x9E3779B9;
        return (mixed ^ mixed >>> 16) & COUNTERS - 1;
    }
}
