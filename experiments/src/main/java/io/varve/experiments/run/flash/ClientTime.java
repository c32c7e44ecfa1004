package io.varve.experiments.run.flash;

import java.util.Comparator;
import java.util.List;

/**
 * The time of a client's requests. Immutable.
 *
 * @param nanos from its first request to the end of its last one
 * @param adviceNanos the part of it in calls that keep files out of the page cache
 */
record ClientTime(long nanos, long adviceNanos) {
    private static final double SECOND = 1e9;

    /** Seconds for the requests alone. */
    double seconds() {
        return (nanos - adviceNanos) / SECOND;
    }

    double adviceSeconds() {
        return adviceNanos / SECOND;
    }

    /** The client that took longest for the requests alone. */
    static ClientTime slowest(List<ClientTime> clients) {
        return clients.stream().max(Comparator.comparingDouble(ClientTime::seconds)).orElseThrow();
    }
}
