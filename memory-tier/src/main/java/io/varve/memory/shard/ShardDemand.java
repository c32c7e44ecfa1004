package io.varve.memory.shard;

import io.varve.memory.locality.DemandCycles;
import io.varve.memory.locality.ReturningKeys;
import io.varve.memory.locality.Returns;

/** Tells what watches the demand for each class of a shard's accesses (pRedis, section 4). Guarded by the shard's lock. */
public final class ShardDemand {
    /** A power of two: more than are fetched for a shard at a time, but seldom. */
    private static final int FETCHED = 256;

    private final DemandCycles cycles;
    private final ReturningKeys keys;
    private final int lastClass;
    /** Keys whose items came back and were not read since, as far as they are remembered: by some bits of the hash, 0: none. */
    private final long[] fetched = new long[FETCHED];

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
            if (took(hash)) {
                cycles.missed(of);
            } else {
                cycles.hit(of);
            }
        }
    }

    /** Whether the key has come back and was neither read nor written since; now it was. */
    private boolean took(long hash) {
        boolean came = fetched[place(hash)] == hash;
        if (came) {
            fetched[place(hash)] = 0;
        }
        return came;
    }

    private static int place(long hash) {
        return (int) hash & FETCHED - 1;
    }

    void write(long hash, int penaltyClass) {
        // It came for this write.
        took(hash);
        keys.access(hash, Math.min(penaltyClass, lastClass));
    }

    /** An item has come back from the tier below: for a read, which has missed then, or for a write, which says nothing. */
    void fetched(long hash, int penaltyClass) {
        if (cycles.isDumped(Math.min(penaltyClass, lastClass))) {
            fetched[place(hash)] = hash;
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
        for (int i = 0; i <= lastClass; i++) {
            long slotsAgo = cycles.of(i).valleyBeganSlotsAgo();
            if (slotsAgo >= 0) {
                keys.valleyBegan(i, slotsAgo);
            }
        }
    }

    public long bytes() {
        return keys.bytes() + (long) FETCHED * Long.BYTES;
    }
}
