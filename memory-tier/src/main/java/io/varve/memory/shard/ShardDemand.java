package io.varve.memory.shard;

import java.util.Arrays;

import io.varve.memory.locality.DemandCycles;
import io.varve.memory.locality.ReturningKeys;
import io.varve.memory.locality.Returns;

/** Tells what watches the demand for each class of a shard's accesses (pRedis, section 4). Guarded by the shard's lock. */
public final class ShardDemand {
    /** A key that has come back is in one of so many places, and there are so many times as many. */
    private static final int WAYS = 8;
    /** A power of two: many more than come back to a shard for a pipeline. One that is forgotten looks like a hit. */
    private static final int SETS = 128;

    private final DemandCycles cycles;
    private final ReturningKeys keys;
    private final int lastClass;
    /** Keys whose items came back and were not read since, as far as they are remembered: by some bits of the hash, 0: none. */
    private final long[] fetched = new long[WAYS * SETS];
    /** Which goes from a set that is full. */
    private int next;

    /**
     * @param cycles of all shards
     * @param keys   whose return is noticed here, at the most: 16 or more
     */
    public ShardDemand(DemandCycles cycles, int keys) {
        this.cycles = cycles;
        this.keys = new ReturningKeys(cycles.classes(), keys, cycles.settings().historySlots());
        lastClass = cycles.classes() - 1;
    }

    /** @param hash {@link AccessedKey#hash} */
    void read(long hash, int penaltyClass, boolean found) {
        int of = Math.min(penaltyClass, lastClass);
        keys.access(hash, of);
        if (!found) {
            cycles.missed(of);
        } else if (cycles.isDumped(of)) {
            if (forget(hash)) {
                cycles.missed(of);
            } else {
                cycles.hit(of);
            }
        }
    }

    /** Whether the key has come back and was neither read nor written since; now it was. */
    private boolean forget(long hash) {
        int place = place(hash, hash);
        if (place >= 0) {
            fetched[place] = 0;
        }
        return place >= 0;
    }

    /** Where one is among those of a hash's set; -1 if it is not. */
    private int place(long hash, long entry) {
        int first = first(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (fetched[i] == entry) {
                return i;
            }
        }
        return -1;
    }

    /** The first place of a hash's set. */
    private static int first(long hash) {
        return (int) hash & (SETS - 1) * WAYS;
    }

    void write(long hash, int penaltyClass) {
        if (cycles.isAnyDumped()) {
            // What came for this write is in memory where it is read after it, whatever its class is from now on.
            forget(hash);
        }
        keys.access(hash, Math.min(penaltyClass, lastClass));
    }

    /** An item has come back from the tier below: for a read, which has missed then, or for a write, which says nothing. */
    void fetched(long hash, int penaltyClass) {
        if (cycles.isDumped(Math.min(penaltyClass, lastClass)) && place(hash, hash) < 0) {
            int place = place(hash, 0);
            if (place < 0) {
                next = next + 1 & WAYS - 1;
                place = first(hash) + next;
            }
            fetched[place] = hash;
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
            Arrays.fill(fetched, 0);
        }
        for (int i = 0; i <= lastClass; i++) {
            long slotsAgo = cycles.of(i).valleyBeganSlotsAgo();
            if (slotsAgo >= 0) {
                keys.valleyBegan(i, slotsAgo);
            }
        }
    }

    public long bytes() {
        return keys.bytes() + (long) fetched.length * Long.BYTES;
    }
}
