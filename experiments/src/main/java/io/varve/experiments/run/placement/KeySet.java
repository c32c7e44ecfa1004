package io.varve.experiments.run.placement;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.placement.HashRing;

/** Different random keys, as placements see them. Immutable. */
final class KeySet {
    private final long[] hashes;
    private final long[] slots;

    private KeySet(long[] hashes, long[] slots) {
        this.hashes = hashes;
        this.slots = slots;
    }

    /** The place of each key on the ring; empty if the keys are drawn. Not to be changed. */
    long[] hashes() {
        return hashes;
    }

    /** The number of keys of each hash slot. Not to be changed. */
    long[] slots() {
        return slots;
    }

    /** Keys that exist: each has a hash for the ring and one for its slot. */
    static KeySet hashed(int count, SplittableRandom random) {
        long[] hashes = new long[count];
        long[] slots = new long[HashSlot.COUNT];
        for (int i = 0; i < count; i++) {
            byte[] key = ("key:" + Long.toHexString(random.nextLong())).getBytes(StandardCharsets.UTF_8);
            hashes[i] = HashRing.hash(key);
            slots[HashSlot.of(key)]++;
        }
        return new KeySet(hashes, slots);
    }

    /**
     * Draws only the number of keys of each slot, from the multinomial distribution that keys with uniform hashes have.
     */
    static KeySet drawn(long count, SplittableRandom random) {
        long[] slots = new long[HashSlot.COUNT];
        draw(slots, 0, slots.length, count, random);
        return new KeySet(new long[0], slots);
    }

    /** Each key chooses a half of the slots by a random bit, then a half of that half, and so on: this is exact. */
    private static void draw(long[] slots, int from, int to, long count, SplittableRandom random) {
        if (to - from == 1) {
            slots[from] = count;
            return;
        }
        long lower = 0;
        long left = count;
        for (; left >= Long.SIZE; left -= Long.SIZE) {
            lower += Long.bitCount(random.nextLong());
        }
        lower += Long.bitCount(random.nextLong() & (1L << left) - 1);
        int middle = (from + to) >>> 1;
        draw(slots, from, middle, lower, random);
        draw(slots, middle, to, count - lower, random);
    }
}
