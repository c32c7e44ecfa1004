package io.varve.memory.shard;

import java.util.Arrays;

/**
 * Which physical database a logical one is. Guarded by the locks of all shards together for writing, of any one for
 * reading.
 *
 * <p>SELECT's numbers are logical. SWAPDB exchanges two entries; FLUSHDB takes a fresh physical database at once and
 * leaves the old one to be reclaimed in slices. An item's header carries its physical number (5 bits).
 *
 * <p>Physical numbers are used again. What a database holds is told from what it, or another, held before by an <em>epoch</em>,
 * which is never used again: it follows the items through SWAPDB and ends with FLUSHDB.
 */
public final class Databases {
    /** How many physical databases there are: what 5 bits of the item's header can tell apart. */
    public static final int PHYSICAL = 32;
    /** The logical number of a physical database that is being reclaimed, or free. */
    public static final int DETACHED = -1;

    private final int[] physicalOf;
    private final int[] logicalOf = new int[PHYSICAL];
    private final boolean[] reclaiming = new boolean[PHYSICAL];
    private final long[] epochOf = new long[PHYSICAL];
    private long nextEpoch;

    /**
     * @param logical how many logical databases, at most half of {@link #PHYSICAL}
     */
    public Databases(int logical) {
        physicalOf = new int[logical];
        Arrays.fill(logicalOf, DETACHED);
        for (int i = 0; i < logical; i++) {
            attach(i, i);
            renew(i);
        }
    }

    /** Goes on with epochs of an earlier life: those of the logical databases, and the first that was never used. */
    public void resume(long[] epochs, long next) {
        for (int i = 0; i < physicalOf.length; i++) {
            epochOf[physicalOf[i]] = epochs[i];
        }
        nextEpoch = next;
    }

    /** The epoch of a logical database. */
    public long epoch(int logical) {
        return epochOf[physicalOf[logical]];
    }

    /** The epoch of a physical database that is not detached. */
    long epochOfPhysical(int physical) {
        return epochOf[physical];
    }

    /** The first epoch that was never used. */
    public long nextEpoch() {
        return nextEpoch;
    }

    /** Begins a new epoch of a logical database. */
    public void renew(int logical) {
        epochOf[physicalOf[logical]] = nextEpoch++;
    }

    public int count() {
        return physicalOf.length;
    }

    public int physical(int logical) {
        return physicalOf[logical];
    }

    /** The logical number, or {@link #DETACHED}. */
    public int logical(int physical) {
        return logicalOf[physical];
    }

    public boolean reclaiming(int physical) {
        return reclaiming[physical];
    }

    /** Exchanges two logical databases. */
    public boolean swap(int first, int second) {
        int held = physicalOf[first];
        attach(first, physicalOf[second]);
        attach(second, held);
        return true;
    }

    /**
     * Puts a fresh physical database in the place of the present one, which is to be reclaimed.
     *
     * @return false if none is free: the reclaimer has to catch up first
     */
    public boolean detach(int logical) {
        for (int fresh = 0; fresh < PHYSICAL; fresh++) {
            if (logicalOf[fresh] == DETACHED && !reclaiming[fresh]) {
                int old = physicalOf[logical];
                logicalOf[old] = DETACHED;
                reclaiming[old] = true;
                attach(logical, fresh);
                renew(logical);
                return true;
            }
        }
        return false;
    }

    /** How many can take the place of another. */
    public int free() {
        int free = 0;
        for (int i = 0; i < PHYSICAL; i++) {
            free += logicalOf[i] == DETACHED && !reclaiming[i] ? 1 : 0;
        }
        return free;
    }

    /** All shards have let go of it: it may be attached again. */
    public void reclaimed(int physical) {
        assert reclaiming[physical];
        reclaiming[physical] = false;
    }

    private void attach(int logical, int physical) {
        physicalOf[logical] = physical;
        logicalOf[physical] = logical;
    }
}
