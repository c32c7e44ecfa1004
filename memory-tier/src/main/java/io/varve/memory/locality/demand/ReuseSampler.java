package io.varve.memory.locality.demand;

import java.util.Arrays;

import io.varve.memory.locality.partition.PenaltyRanges;

/**
 * Remembers for a sample of keys the slot of their last access. Guarded by its owner's lock; its memory is fixed. It
 * counts how many of the keys from before a valley come back, and after how long (pRedis, section 4).
 *
 * <p>Keys are chosen by their hashes, rather than by sampling accesses, because the question is how many keys two peaks
 * share, each key counted once. While the table has space, all keys are in the sample. When it is full, it drops the
 * keys that were not seen for the whole history. If that is too little, it drops every second key, and each remaining
 * key counts for two from then on. If the table becomes nearly empty, it admits keys again, as many as fit. Otherwise a
 * burst of keys that never come back would blind it for ever. Readmitted keys count once they were known for a whole
 * history; earlier they would seem to be new.
 * <pre>
 *  63                       24 23                0
 * +---------------------------+-------------------+
 * | hash, its highest bits    | slot, from 1      |   0: empty
 * +---------------------------+-------------------+
 * </pre>
 */
public final class ReuseSampler {
    /** With this many keys the table takes 16 MiB. */
    private static final int MAX_KEYS = 1 << 20;
    private static final int SLOT_BITS = 24;
    private static final long SLOT_MASK = (1L << SLOT_BITS) - 1;
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
    private static final long EMPTY = 0;

    private final long[] entries;
    private final int mask;
    private final int maxIdleSlots;
    /** The slot in which the last valley of each class began; 0 before the first. */
    private final long[] valleys;
    private final long[] returned;
    private final long[] idle;
    private final long[] fresh;
    private int size;
    private long slot = 1;
    /** Keys whose hash begins with this many zeros are in the sample. */
    private int zeros;
    /**
     * Keys of the sample count if their hash begins with this many zeros: as many, or more after keys were recently
     * readmitted.
     */
    private int countedZeros;
    /** When keys were last readmitted, or when that was last checked. */
    private long checkedAt = 1;

    /**
     * @param classes 1 to {@link PenaltyRanges#MAX_CLASSES}
     * @param keys the most keys that are known, 16 or more
     * @param maxIdleSlots the slots after which a key may be forgotten
     */
    public ReuseSampler(int classes, int keys, int maxIdleSlots) {
        if (keys < 16 || keys > MAX_KEYS) {
            throw new IllegalArgumentException("The number of known keys must be 16 to " + MAX_KEYS + ", not " + keys);
        }
        if (maxIdleSlots < 1 || maxIdleSlots > SLOT_MASK / 2) {
            throw new IllegalArgumentException(
                    "A key is idle for 1 to " + SLOT_MASK / 2 + " slots, not " + maxIdleSlots);
        }
        this.maxIdleSlots = maxIdleSlots;
        entries = new long[Integer.highestOneBit(2 * keys - 1) * 2];
        mask = entries.length - 1;
        valleys = new long[new PenaltyRanges(classes).classes()];
        returned = new long[classes];
        idle = new long[classes];
        fresh = new long[classes];
    }

    /**
     * Sets a class's valley: keys last accessed before it return with their next access. Until this is called, no key
     * returns.
     *
     * @param slotsAgo the age of the last valley's beginning: {@link PeriodicDemandDetector#valleyBeganSlotsAgo}
     */
    public void valleyBegan(int penaltyClass, long slotsAgo) {
        valleys[penaltyClass] = slot - slotsAgo;
    }

    /** Records an access. */
    public void access(long hash, int penaltyClass) {
        long mixed = mixed(hash);
        int leading = Long.numberOfLeadingZeros(mixed);
        if (leading < zeros) {
            return;
        }
        int counted = leading < countedZeros ? 0 : 1;
        int place = find(mixed);
        long entry = entries[place];
        long now = slot & SLOT_MASK;
        if (entry == EMPTY) {
            fresh[penaltyClass] += counted;
            add(mixed, now);
            return;
        }
        long since = slot - entry & SLOT_MASK;
        if (since > 0) {
            if (since > slot - valleys[penaltyClass]) {
                returned[penaltyClass] += counted;
                idle[penaltyClass] += counted * since;
            }
            entries[place] = entry & ~SLOT_MASK | now;
        }
    }

    private static long mixed(long hash) {
        long mixed = (hash ^ hash >>> 32) * GOLDEN;
        return mixed ^ mixed >>> 32;
    }

    /** The position of a key, or the one where it would be inserted. */
    private int find(long mixed) {
        int place = (int) (mixed >>> SLOT_BITS) & mask;
        while (entries[place] != EMPTY && (entries[place] ^ mixed) >>> SLOT_BITS != 0) {
            place = place + 1 & mask;
        }
        return place;
    }

    private void add(long mixed, long now) {
        if (size >= entries.length / 2) {
            lowerRate();
            if (Long.numberOfLeadingZeros(mixed) < zeros) {
                return;
            }
        }
        entries[find(mixed)] = mixed & ~SLOT_MASK | now;
        size++;
    }

    /** Frees at least a quarter of the table; takes time for each of its positions. */
    private void lowerRate() {
        rebuild();
        while (size > entries.length / 4) {
            zeros++;
            if (zeros > countedZeros) {
                countedZeros = zeros;
                for (int i = 0; i < returned.length; i++) {
                    returned[i] /= 2;
                    idle[i] /= 2;
                    fresh[i] /= 2;
                }
            }
            rebuild();
        }
    }

    /** Counts readmitted keys, or readmits others; called once in a history. */
    private void raiseRate() {
        if (countedZeros > zeros) {
            for (int i = 0; i < returned.length; i++) {
                returned[i] <<= countedZeros - zeros;
                idle[i] <<= countedZeros - zeros;
                fresh[i] <<= countedZeros - zeros;
            }
            countedZeros = zeros;
        }
        rebuild();
        // Each zero less doubles the table's contents. It fills at most a quarter; half is the limit, which leaves as
        // much space for unexpected keys.
        for (int expected = size; zeros > 0 && expected <= entries.length / 8; expected = 2 * Math.max(1, expected)) {
            zeros--;
        }
    }

    /** Reinserts the remaining keys. */
    private void rebuild() {
        long[] before = entries.clone();
        Arrays.fill(entries, EMPTY);
        size = 0;
        for (long entry : before) {
            if (entry != EMPTY && (slot - entry & SLOT_MASK) <= maxIdleSlots
                    && Long.numberOfLeadingZeros(entry) >= zeros) {
                entries[find(entry)] = entry;
                size++;
            }
        }
    }

    /** The behaviour of a class's keys since the last call, extrapolated from the sample. */
    public ReuseSample take(int penaltyClass) {
        double weight = Math.scalb(1.0, countedZeros);
        ReuseSample taken = new ReuseSample(weight * returned[penaltyClass], weight * idle[penaltyClass],
                weight * fresh[penaltyClass]);
        returned[penaltyClass] = 0;
        idle[penaltyClass] = 0;
        fresh[penaltyClass] = 0;
        return taken;
    }

    /**
     * Begins the next slot. Once in a history, if the sample does not include all keys, it takes time for each position
     * of the table.
     */
    public void endSlot() {
        // With slot 0, the entry of an all-zero hash would look empty.
        slot += (slot + 1 & SLOT_MASK) == 0 ? 2 : 1;
        if (zeros > 0 || countedZeros > 0) {
            if (slot - checkedAt > maxIdleSlots) {
                checkedAt = slot;
                raiseRate();
            }
        } else {
            checkedAt = slot;
        }
    }

    /** The number of keys in the sample. */
    public int keys() {
        return size;
    }

    /** The memory of its table in bytes. */
    public long bytes() {
        return (long) Long.BYTES * entries.length;
    }
}
