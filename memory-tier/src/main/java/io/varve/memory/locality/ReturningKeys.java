package io.varve.memory.locality;

import java.util.Arrays;

/**
 * Knows of a sample of keys in which slot they were last accessed, so that it can tell how many of those that were there before a valley come
 * back, and how long that was (pRedis, section 4). Guarded by its owner's lock; its memory is fixed.
 *
 * <p>Keys are chosen, by their hashes, and not accesses drawn: what is asked is how many of a peak's keys the peak before had, each once. While the table has
 * room all keys are in the sample; when it is full those go that were not seen for the whole history, and if that is too little, every second key goes, and counts
 * for two from then on. Where it has become nearly empty for that, keys are let in again, as many as there is room for: a burst of keys that never come back is
 * not to blind it for ever. They count when they were known for a whole history, or they would seem to be new.
 * <pre>
 *  63                       24 23                0
 * +---------------------------+-------------------+
 * | hash, its highest bits    | slot, from 1      |   0: empty
 * +---------------------------+-------------------+
 * </pre>
 */
public final class ReturningKeys {
    /** With so many the table takes 16 MiB. */
    private static final int MOST_KEYS = 1 << 20;
    private static final int SLOT_BITS = 24;
    private static final long SLOT_MASK = (1L << SLOT_BITS) - 1;
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
    private static final long EMPTY = 0;

    private final long[] entries;
    private final int mask;
    private final int mostIdleSlots;
    /** The slot in which the last valley of each class began; 0 before there was one. */
    private final long[] valleys;
    private final long[] returned;
    private final long[] idle;
    private final long[] fresh;
    private int size;
    private long slot = 1;
    /** Keys whose hash begins with so many zeros are in the sample. */
    private int zeros;
    /** And of those, the ones count whose hash begins with so many: as many, or more while others were let in lately. */
    private int countedZeros;
    /** When others were let in last, or whether that is possible was looked at. */
    private long lookedAt = 1;

    /**
     * @param classes       1 to {@link PenaltyRanges#MOST}
     * @param keys          that are known at the most, 16 or more
     * @param mostIdleSlots after which a key may be forgotten
     */
    public ReturningKeys(int classes, int keys, int mostIdleSlots) {
        if (keys < 16 || keys > MOST_KEYS) {
            throw new IllegalArgumentException("The keys known are 16 to " + MOST_KEYS + ", not " + keys);
        }
        if (mostIdleSlots < 1 || mostIdleSlots > SLOT_MASK / 2) {
            throw new IllegalArgumentException(
                    "A key is idle for 1 to " + SLOT_MASK / 2 + " slots, not " + mostIdleSlots);
        }
        this.mostIdleSlots = mostIdleSlots;
        entries = new long[Integer.highestOneBit(2 * keys - 1) * 2];
        mask = entries.length - 1;
        valleys = new long[new PenaltyRanges(classes).classes()];
        returned = new long[classes];
        idle = new long[classes];
        fresh = new long[classes];
    }

    /**
     * A key that was last accessed before this returns, with its next access. Until this is called no key does.
     *
     * @param slotsAgo the class's last valley began: {@link DemandCycle#valleyBeganSlotsAgo}
     */
    public void valleyBegan(int penaltyClass, long slotsAgo) {
        valleys[penaltyClass] = slot - slotsAgo;
    }

    /** An access. */
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

    /** Where a key is, or would be. */
    private int find(long mixed) {
        int place = (int) (mixed >>> SLOT_BITS) & mask;
        while (entries[place] != EMPTY && (entries[place] ^ mixed) >>> SLOT_BITS != 0) {
            place = place + 1 & mask;
        }
        return place;
    }

    private void add(long mixed, long now) {
        if (size >= entries.length / 2) {
            makeRoom();
            if (Long.numberOfLeadingZeros(mixed) < zeros) {
                return;
            }
        }
        entries[find(mixed)] = mixed & ~SLOT_MASK | now;
        size++;
    }

    /** At least a quarter of the table; takes time for each of its places. */
    private void makeRoom() {
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

    /** Once in a history: those that were let in count from now on, or others are let in. */
    private void lookForRoom() {
        if (countedZeros > zeros) {
            for (int i = 0; i < returned.length; i++) {
                returned[i] <<= countedZeros - zeros;
                idle[i] <<= countedZeros - zeros;
                fresh[i] <<= countedZeros - zeros;
            }
            countedZeros = zeros;
        }
        rebuild();
        // Each zero less doubles what is in it, up to a quarter: half of it is the most, so there is room for as many that were not expected.
        for (int expected = size; zeros > 0 && expected <= entries.length / 8; expected = 2 * Math.max(1, expected)) {
            zeros--;
        }
    }

    /** Puts back what stays. */
    private void rebuild() {
        long[] before = entries.clone();
        Arrays.fill(entries, EMPTY);
        size = 0;
        for (long entry : before) {
            if (entry != EMPTY && (slot - entry & SLOT_MASK) <= mostIdleSlots
                    && Long.numberOfLeadingZeros(entry) >= zeros) {
                entries[find(entry)] = entry;
                size++;
            }
        }
    }

    /** What the keys of a class did since this was last asked; it takes what is in the sample for all there are. */
    public Returns take(int penaltyClass) {
        double weight = Math.scalb(1.0, countedZeros);
        Returns taken = new Returns(weight * returned[penaltyClass], weight * idle[penaltyClass],
                weight * fresh[penaltyClass]);
        returned[penaltyClass] = 0;
        idle[penaltyClass] = 0;
        fresh[penaltyClass] = 0;
        return taken;
    }

    /** The next slot begins; after a history, where not all keys are in the sample, that takes time for each place of the table. */
    public void endSlot() {
        // Slot 0 would make an entry of a hash that is all zeros an empty one.
        slot += (slot + 1 & SLOT_MASK) == 0 ? 2 : 1;
        if (zeros > 0 || countedZeros > 0) {
            if (slot - lookedAt > mostIdleSlots) {
                lookedAt = slot;
                lookForRoom();
            }
        } else {
            lookedAt = slot;
        }
    }

    /** Of the sample. */
    public int keys() {
        return size;
    }

    /** What its table takes. */
    public long bytes() {
        return (long) Long.BYTES * entries.length;
    }
}
