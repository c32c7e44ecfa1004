package io.varve.memory.locality;

import java.util.Arrays;

/**
 * The keys whose next access is waited for, each with the drawn access that it was last seen at. Confined to its recorder.
 *
 * <p>A hash table with linear probing, in arrays of a fixed length: 35 bytes a slot. A key that is not in it, which is nearly every key
 * that is asked for, is told by the slots' tags, one byte each, so that the common question stays in the processor's nearer caches. Nothing
 * is left behind by a key that goes: those that were probed past it move up.
 */
final class FollowedKeys {
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
    private static final int SMALLEST = 16;
    private static final byte EMPTY = 0;

    private final byte[] tags;
    private final long[] hashes;
    private final long[] starts;
    private final long[] deadlines;
    private final double[] bytes;
    private final byte[] classes;
    private final byte[] levels;
    private final int mask;
    private final int shift;
    private int size;

    /** @param keys wanted; there is room for one and a half times as many in three quarters of the slots */
    FollowedKeys(int keys) {
        int slots = Math.max(SMALLEST, Integer.highestOneBit(Math.max(1, 2 * keys - 1)) << 1);
        tags = new byte[slots];
        hashes = new long[slots];
        starts = new long[slots];
        deadlines = new long[slots];
        bytes = new double[slots];
        classes = new byte[slots];
        levels = new byte[slots];
        mask = slots - 1;
        shift = Long.SIZE - Integer.numberOfTrailingZeros(slots);
    }

    int size() {
        return size;
    }

    int slots() {
        return tags.length;
    }

    private int home(long hash) {
        return (int) (hash * GOLDEN >>> shift);
    }

    private static byte tag(long hash) {
        byte tag = (byte) hash;
        return tag == EMPTY ? 1 : tag;
    }

    /** The slot of a key, or -1. */
    int find(long hash) {
        byte tag = tag(hash);
        for (int slot = home(hash);; slot = slot + 1 & mask) {
            byte found = tags[slot];
            if (found == EMPTY) {
                return -1;
            }
            if (found == tag && hashes[slot] == hash) {
                return slot;
            }
        }
    }

    /** Adds a key that is not there yet; at least one slot must stay empty. */
    void add(long hash, long start, double itemBytes, int itemClass, long deadline, int level) {
        assert find(hash) < 0 && size < mask;
        int slot = home(hash);
        while (tags[slot] != EMPTY) {
            slot = slot + 1 & mask;
        }
        tags[slot] = tag(hash);
        hashes[slot] = hash;
        starts[slot] = start;
        bytes[slot] = itemBytes;
        classes[slot] = (byte) itemClass;
        deadlines[slot] = deadline;
        levels[slot] = (byte) level;
        size++;
    }

    /** Empties a slot; another key may lie there afterwards. */
    void remove(int slot) {
        int gap = slot;
        for (int next = gap + 1 & mask; tags[next] != EMPTY; next = next + 1 & mask) {
            // It may move up if its home is not behind the gap.
            if ((next - home(hashes[next]) & mask) >= (next - gap & mask)) {
                move(next, gap);
                gap = next;
            }
        }
        tags[gap] = EMPTY;
        size--;
    }

    private void move(int from, int to) {
        tags[to] = tags[from];
        hashes[to] = hashes[from];
        starts[to] = starts[from];
        bytes[to] = bytes[from];
        classes[to] = classes[from];
        deadlines[to] = deadlines[from];
        levels[to] = levels[from];
    }

    void clear() {
        Arrays.fill(tags, EMPTY);
        size = 0;
    }

    boolean used(int slot) {
        return tags[slot] != EMPTY;
    }

    /** The access that was drawn. */
    long start(int slot) {
        return starts[slot];
    }

    double bytes(int slot) {
        return bytes[slot];
    }

    int itemClass(int slot) {
        return classes[slot];
    }

    long deadline(int slot) {
        return deadlines[slot];
    }

    /** Which tells of how many accesses it is one: {@link DrawRate}. */
    int level(int slot) {
        return levels[slot];
    }

    void level(int slot, int level) {
        levels[slot] = (byte) level;
    }
}
