package io.varve.memory.shard.context;

import java.util.Arrays;

/**
 * Maps logical databases to physical ones. Writers hold the locks of all shards, readers the lock of any shard. {@link
 * #physical} also serves readers without a lock, which check afterwards that no thread has held their shard's lock.
 *
 * <p>SELECT uses logical numbers. SWAPDB exchanges two entries. FLUSHDB switches to a fresh physical database at once
 * and leaves the old one to be reclaimed in slices. An item's header carries its physical number (5 bits).
 *
 * <p>Physical numbers are reused. An <em>epoch</em>, which is never reused, separates a database's present contents
 * from earlier ones. It stays with the items through SWAPDB and ends with FLUSHDB.
 */
public final class Databases {
    /** The number of physical databases, which the 5 bits of an item's header can distinguish. */
    public static final int PHYSICAL = 32;
    /** The logical number of a physical database that is being reclaimed or is free. */
    public static final int DETACHED = -1;

    private final int[] physicalOf;
    private final int[] logicalOf = new int[PHYSICAL];
    private final boolean[] reclaiming = new boolean[PHYSICAL];
    private final long[] epochOf = new long[PHYSICAL];
    private long nextEpoch;

    /** @param logical the number of logical databases, at most half of {@link #PHYSICAL} */
    public Databases(int logical) {
        physicalOf = new int[logical];
        Arrays.fill(logicalOf, DETACHED);
        for (int i = 0; i < logical; i++) {
            attach(i, i);
            renew(i);
        }
    }

    /** Continues with the epochs of an earlier process: those of the logical databases, and the first unused one. */
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
    public long epochOfPhysical(int physical) {
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

    /** Whether a physical database is a logical one. */
    public boolean isAttached(int physical) {
        return logical(physical) != DETACHED;
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
     * Replaces the present physical database with a fresh one and marks the old one for reclaiming.
     *
     * @return false if none is free: the lazy free has to catch up first
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

    /** The number of physical databases that can replace another. */
    public int free() {
        int free = 0;
        for (int i = 0; i < PHYSICAL; i++) {
            free += logicalOf[i] == DETACHED && !reclaiming[i] ? 1 : 0;
        }
        return free;
    }

    /** Marks a physical database as free, after all shards have reclaimed it. */
    public void reclaimed(int physical) {
        assert reclaiming[physical];
        reclaiming[physical] = false;
    }

    private void attach(int logical, int physical) {
        physicalOf[logical] = physical;
        logicalOf[physical] = logical;
    }
}
