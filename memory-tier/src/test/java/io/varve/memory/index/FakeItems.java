package io.varve.memory.index;

import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;

/**
 * Items for tests of the index: an array in native memory whose index is the location. Confined to the test's thread.
 *
 * <p>A key is eight bytes; the test chooses its hash, which is stored beside it.
 */
final class FakeItems implements KeyVerifier {
    static final int KEY_BYTES = Long.BYTES;
    private static final int ITEM_BYTES = 2 * Long.BYTES;

    private final Regions regions;
    private final long base;
    private final long bytes;
    private final long probe;
    private final long capacity;
    private long reads;

    FakeItems(Regions regions, long capacity) {
        this.regions = regions;
        this.capacity = capacity;
        bytes = Math.max(Regions.MIN_BYTES, Long.highestOneBit((capacity + 1) * ITEM_BYTES) << 1);
        base = regions.allocate(bytes);
        probe = base + capacity * ITEM_BYTES;
    }

    void put(long location, long key, long hash) {
        Memory.putLong(address(location), key);
        Memory.putLong(address(location) + KEY_BYTES, hash);
    }

    long key(long location) {
        return Memory.getLong(address(location));
    }

    /** Address of a key to find; valid until the next call. */
    long keyAddress(long key) {
        Memory.putLong(probe, key);
        return probe;
    }

    long capacity() {
        return capacity;
    }

    void release() {
        regions.free(base, bytes);
    }

    @Override
    public boolean matches(long location, long keyAddress, int keyLength) {
        reads++;
        return Memory.equal(address(location), keyAddress, keyLength);
    }

    @Override
    public long hashOf(long location) {
        reads++;
        return Memory.getLong(address(location) + KEY_BYTES);
    }

    @Override
    public int secondHash(long keyAddress, int keyLength) {
        return mix(Memory.getLong(keyAddress));
    }

    @Override
    public int secondHashOf(long location) {
        return mix(key(location));
    }

    private static int mix(long key) {
        return (int) ((key + 1) * 0x9E37_79B9_7F4A_7C15L >>> 29);
    }

    /** How many keys were compared, and hashes computed from an item's bytes, since the last call. */
    long takeReads() {
        long taken = reads;
        reads = 0;
        return taken;
    }

    private long address(long location) {
        if (location < 0 || location >= capacity) {
            throw new AssertionError("No such location: " + location);
        }
        return base + location * ITEM_BYTES;
    }
}
