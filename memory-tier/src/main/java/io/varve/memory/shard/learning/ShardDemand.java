package io.varve.memory.shard.learning;

import java.util.Arrays;
import java.util.BitSet;

import io.varve.memory.locality.demand.DemandCycles;
import io.varve.memory.locality.demand.ReuseSample;
import io.varve.memory.locality.demand.ReuseSampler;

/**
 * Reports a shard's accesses to the demand controller's data, by penalty class (pRedis, section 4). Guarded by the
 * shard's lock.
 */
public final class ShardDemand {
    /** The ways of the set-associative table {@link #arrivals}. */
    private static final int WAYS = 8;
    /** A power of two: many more keys than arrive in a shard for a pipeline. A forgotten key looks like a hit. */
    private static final int SETS = 128;

    private final DemandCycles cycles;
    private final ReuseSampler keys;
    private final int lastClass;
    /**
     * Keys of dumped classes that have arrived since, as far as they are remembered. An entry is the hash; its last bit
     * says whether there was a miss or a write since. 0 is an empty entry.
     */
    private final long[] arrivals = new long[WAYS * SETS];
    /**
     * The next victim in a full set; and whether a set has lost an entry, so that an absent key of it may have arrived.
     */
    private int next;
    private final BitSet overflowed = new BitSet(SETS);

    /**
     * @param cycles the demand state of all shards
     * @param keys the most keys that are sampled here, 16 or more
     */
    public ShardDemand(DemandCycles cycles, int keys) {
        this.cycles = cycles;
        this.keys = new ReuseSampler(cycles.classes(), keys, cycles.settings().historySlots());
        lastClass = cycles.classes() - 1;
    }

    /**
     * Records a read. A repeated read of a key that has already returned says nothing about other dumped items: it is
     * neither a miss nor a hit. Otherwise a class with a few very popular keys would hardly ever have enough
     * consecutive misses.
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
        if (!found || place >= 0 && arrivals[place] == awaited(hash)) {
            remember(settled(hash), place);
            cycles.missed(of);
        } else if (place < 0 && !overflowed.get(first(hash) / WAYS)) {
            cycles.hit(of);
        }
    }

    /** The entry of a key that was fetched, and whose read or write is still to come. */
    private static long awaited(long hash) {
        return hash & ~1L;
    }

    private static long settled(long hash) {
        return hash | 1;
    }

    /** The position of a key in its set; -1 if it is absent. */
    private int place(long hash) {
        int first = first(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (arrivals[i] != 0 && awaited(arrivals[i]) == awaited(hash)) {
                return i;
            }
        }
        return -1;
    }

    /** The position for a new entry of a hash's set. */
    private int newPlace(long hash) {
        int first = first(hash);
        for (int i = first; i < first + WAYS; i++) {
            if (arrivals[i] == 0) {
                return i;
            }
        }
        overflowed.set(first / WAYS);
        next = next + 1 & WAYS - 1;
        return first + next;
    }

    /** @param place the key's position, -1 if it has none */
    private void remember(long entry, int place) {
        arrivals[place < 0 ? newPlace(entry) : place] = entry;
    }

    /** The first position of a hash's set; it ignores the last bit of the hash. */
    private static int first(long hash) {
        return (int) hash & (SETS - 1) * WAYS;
    }

    /**
     * @param isNew whether there was no item before: an existing item that has not arrived since the dump is not
     *     new
     */
    void write(long hash, int penaltyClass, boolean isNew) {
        int of = Math.min(penaltyClass, lastClass);
        if (cycles.isAnyDumped()) {
            // A key fetched for this write, or created by it, is in memory for a later read, whatever its new class.
            int place = place(hash);
            if (place >= 0 || isNew && cycles.isDumped(of)) {
                remember(settled(hash), place);
            }
        }
        keys.access(hash, of);
    }

    /**
     * Records an item that was restored from the secondary tier: for a read, which was a miss then, or for a write,
     * which does not count.
     */
    void fetched(long hash, int penaltyClass) {
        if (cycles.isDumped(Math.min(penaltyClass, lastClass))) {
            remember(awaited(hash), place(hash));
        }
    }

    /** Adds to each class the sample of the slot that ends. */
    public void drainReuseSamples(ReuseSample[] sums) {
        for (int i = 0; i < sums.length; i++) {
            sums[i] = sums[i].and(keys.take(i));
        }
    }

    /** Begins the next slot, with the valleys that the cycles know. Called by the thread that ends their slots. */
    public void endSlot() {
        keys.endSlot();
        if (!cycles.isAnyDumped()) {
            Arrays.fill(arrivals, 0);
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
        return keys.bytes() + (long) arrivals.length * Long.BYTES;
    }
}
