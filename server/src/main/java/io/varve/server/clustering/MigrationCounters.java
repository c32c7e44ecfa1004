package io.varve.server.clustering;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Figures of the slots that this member has moved to others, since its start. Guarded by its own monitor. */
public final class MigrationCounters {
    /** The holds that the median is taken from. */
    private static final int HOLDS = 256;

    private final long[] holdNanos = new long[HOLDS];
    private long holds;
    private long longestHoldNanos;
    private long movedSlots;
    private long sentKeys;
    private long sentBytes;
    private long deletedKeys;
    private long failures;
    private long attempts;
    private String lastFailure = "";

    /** The number of a new attempt to move slots. */
    public synchronized long nextAttempt() {
        return ++attempts;
    }

    /** A key was sent, or its deletion. */
    public synchronized void sent(long bytes) {
        sentKeys++;
        sentBytes += bytes;
    }

    public synchronized void moved(int slots) {
        movedSlots += slots;
    }

    /** A key of a slot was deleted that another member owns. */
    public synchronized void deleted() {
        deletedKeys++;
    }

    /** Commands on some slots have waited. */
    public synchronized void held(long nanos) {
        holdNanos[(int) (holds++ % HOLDS)] = nanos;
        longestHoldNanos = Math.max(longestHoldNanos, nanos);
    }

    /** An attempt has failed, and begins anew. */
    public synchronized void failed(String reason) {
        failures++;
        lastFailure = reason;
    }

    public synchronized long movedSlots() {
        return movedSlots;
    }

    public synchronized long deletedKeys() {
        return deletedKeys;
    }

    public synchronized long failures() {
        return failures;
    }

    public synchronized String lastFailure() {
        return lastFailure;
    }

    /** The number of holds. */
    public synchronized long holds() {
        return holds;
    }

    public synchronized long longestHoldMicros() {
        return TimeUnit.NANOSECONDS.toMicros(longestHoldNanos);
    }

    /** The median of the last holds. */
    public synchronized long medianHoldMicros() {
        int count = (int) Math.min(holds, HOLDS);
        long[] sorted = Arrays.copyOf(holdNanos, count);
        Arrays.sort(sorted);
        return count == 0 ? 0 : TimeUnit.NANOSECONDS.toMicros(sorted[count / 2]);
    }

    /** Lines for CLUSTER INFO. */
    synchronized String lines() {
        return "cluster_migration_slots_moved:" + movedSlots + "\r\ncluster_migration_keys_sent:" + sentKeys
                + "\r\ncluster_migration_bytes_sent:" + sentBytes + "\r\ncluster_migration_keys_deleted:" + deletedKeys
                + "\r\ncluster_migration_holds:" + holds + "\r\ncluster_migration_hold_median_us:"
                + medianHoldMicros() + "\r\ncluster_migration_hold_max_us:" + longestHoldMicros()
                + "\r\ncluster_migration_failures:" + failures + "\r\ncluster_migration_last_failure:"
                + lastFailure.replaceAll("[\\r\\n]", " ") + "\r\n";
    }
}
