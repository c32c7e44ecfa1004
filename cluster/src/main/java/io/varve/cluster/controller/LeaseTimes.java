package io.varve.cluster.controller;

import java.util.concurrent.TimeUnit;

/**
 * The durations of leases and heartbeats. Immutable.
 *
 * @param leaseMillis that a member is granted
 * @param heartbeatMillis between heartbeats of a member
 */
record LeaseTimes(long leaseMillis, long heartbeatMillis) {
    static final LeaseTimes DEFAULT = new LeaseTimes(1_000, 200);
    private static final long MIN_HEARTBEAT_MILLIS = 10;
    private static final long MAX_LEASE_MILLIS = 60_000;
    private static final int HEARTBEATS_PER_LEASE = 3;
    /** Clocks of two machines may differ by this part of a lease. */
    private static final int MARGIN = 10;
    /** Heartbeats that a pending fail-over waits for come this much faster. */
    static final int HURRY = 5;

    LeaseTimes {
        if (heartbeatMillis < MIN_HEARTBEAT_MILLIS) {
            throw new IllegalArgumentException("heartbeat-ms " + heartbeatMillis + ": expected at least "
                    + MIN_HEARTBEAT_MILLIS);
        }
        if (leaseMillis < HEARTBEATS_PER_LEASE * heartbeatMillis || leaseMillis > MAX_LEASE_MILLIS) {
            throw new IllegalArgumentException("lease-ms " + leaseMillis + ": expected " + HEARTBEATS_PER_LEASE
                    + " times heartbeat-ms (" + heartbeatMillis + ") to " + MAX_LEASE_MILLIS);
        }
    }

    /** From the receipt of a heartbeat, until the leader is sure that the member's lease has ended. */
    long fullLeaseNanos() {
        return TimeUnit.MILLISECONDS.toNanos(leaseMillis + leaseMillis / MARGIN);
    }

    /** A primary that has been silent for so long is probably dead. */
    long suspectNanos() {
        return TimeUnit.MILLISECONDS.toNanos(2 * heartbeatMillis);
    }

    long hurriedMillis() {
        return heartbeatMillis / HURRY;
    }
}
