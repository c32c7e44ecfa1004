package io.varve.memory.shard;

import java.util.Arrays;
import java.util.BitSet;

import io.varve.memory.locality.DemandCycles;
import io.varve.memory.locality.ReturningKeys;
import io.varve.memory.locality.Returns;

/** Tells what watches the demand for each class of a shard's accesses (pRedis, section 4). Guarded by the shard's lock. */
public final class ShardDemand {
    /** A key that has come is in one of so many places, and there are so many times as many. */
    private static final int WAYS = 8;
    /** A power of two: many more than come back to a shard for a pipeline. One that is forgotten looks like a hit. */
    private static final int SETS = 128;

    private final DemandCycles cycles;
    private final ReturningKeys keys;
    private final int lastClass;
    /** Keys of dumped classes that came since, as far as they are remembered: the hash, its last bit says whether there was a miss or a write since. 0: none. */
    private final long[] came = new long[WAYS * SETS];
    /** Which goes from a set that is full, and for each set whether one has gone: of who is not there then nobody knows whether it came. */
    private int next;
    private final BitSet overflowed = new BitSet(SETS);

    /**
     * @param cycles of all shards
     * @param keys   whose return is noticed here, at the most: 16 or more
     */
    public ShardDemand(DemandCycles cycles, int keys) {
        this.cycles = cycles;
        this.keys = new ReturningKeys(cycles.classes(), keys, cycles.settings().historySlots());
        lastClass = cycles.classes() - 1;
    }

    /**
     * That a key is read again which has come back says nothing of what else was dumped: it is neither a miss nor a hit. Else a class of which a few keys take many of the
     * reads would hardly ever miss often enough without a hit in between.
     *
     * @param hash {@link AccessedKey#hash}
     */
    void read(long hash, int penaltyClass, boolean found) {
        int of = Math.min(penaltyClass, lastClass);
        keys.access(hash, of);
        if (!cycles.isDumped(of)) {
            return;
        }
        int place = place(hash);
        if (!found || place >= 0 && came[place] == awaited(hash)) {
            remember(settled(hash), place);
            cycles.missed(of);
        } else if (place < 0 && !overflowed.get(first(hash) / WAYS)) {
            cycles.hit(of);
        }
    }

    /** A key that has come up, and is still to be read or written by whom it came for. */
    private static long awaited(long hash) {
        return hash & ~1L;
    }

    private static long settled(long hash) {
        return hash | 1;
    }

    /** Where a key is among those of its set; -1 if it is not. */
    private int place(long hash) {
        int first = first(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (came[i] != 0 && awaited(came[i]) == awaited(hash)) {
                return i;
            }
        }
        return -1;
    }

    /** Where an entry of a hash's set is to be that is not there yet. */
    private int newPlace(long hash) {
        int first = first(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (came[i] == 0) {
                return i;
            }
        }
        overflowed.set(first / WAYS);
        next = next + 1 & WAYS - 1;
        return first + next;
    }

    /** @param place of the key, -1 if it has none */
    private void remember(long entry, int place) {
        came[place < 0 ? newPlace(entry) : place] = entry;
    }

    /** The first place of a hash's set; the last bit of the hash is not asked. */
    private static int first(long hash) {
        return (int) hash & (SETS - 1) * WAYS;
    }

    /** @param isNew whether there was no item before it: what was there and has not come since the dump, is no more new than before it */
    void write(long hash, int penaltyClass, boolean isNew) {
        int of = Math.min(penaltyClass, lastClass);
        if (cycles.isAnyDumped()) {
            // What came for this write is in memory where it is read after it, whatever its class is from now on; and so is what it has made.
            int place = place(hash);
            if (place >= 0 || isNew && cycles.isDumped(of)) {
                remember(settled(hash), place);
            }
        }
        keys.access(hash, of);
    }

    /** An item has come back from the tier below: for a read, which has missed then, or for a write, which says nothing. */
    void fetched(long hash, int penaltyClass) {
        if (cycles.isDumped(Math.min(penaltyClass, lastClass))) {
            remember(awaited(hash), place(hash));
        }
    }

    /** Adds to each class what its keys did in the slot that ends. */
    public void takeReturns(Returns[] sums) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] = sums[i].and(keys.take(i));
        }
    }

    /** The next slot has begun: what is known of valleys is that of the cycles. By who ends their slots. */
    public void endSlot() {
        keys.endSlot();
        if (!cycles.isAnyDumped()) {
            Arrays.fill(came, 0);
            overflowed.clear();
        }
        for (int i = 0; i <= lastClass; i++) {
            long slotsAgo = cycles.of(i).valleyBeganSlotsAgo();
            if (slotsAgo >= 0) {
                keys.valleyBegan(i, slotsAgo);
            }
        }
    }

    public long bytes() {
        return keys.bytes() + (long) came.length * Long.BYTES;
    }
}
