package io.varve.ycsb.database;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * The counters of a process's clients for cache and databases. Immutable.
 *
 * @param hits reads that the cache answered
 * @param misses reads that it could not answer
 * @param fills misses whose record was put into the cache
 * @param overtakenFills misses whose record was not put, because of a concurrent write
 * @param refusedFills misses whose record was not put, because the cache refused it
 * @param unhintedFills fills whose hint the cache refused
 * @param invalidations records that were deleted from the cache, or were absent, after a write
 * @param local the near database
 * @param remote the far one
 * @param stressed whether the far one's delay was raised
 * @param operationsBeforeStress calls of the binding before that; 0 without
 * @param millisBeforeStress time from the first operation to that, ms; 0 without
 */
public record CacheAsideSummary(long hits, long misses, long fills, long overtakenFills, long refusedFills,
        long unhintedFills, long invalidations, Database local, Database remote, boolean stressed,
        long operationsBeforeStress,
        long millisBeforeStress) {

    private static final double NANOS_PER_MICRO = TimeUnit.MICROSECONDS.toNanos(1);

    /**
     * The counters of one database. Immutable. Times are sums in nanoseconds.
     *
     * @param fetches records requested after a miss
     * @param writes statements that insert, update or delete
     * @param scans requested ranges
     * @param failures failed statements
     * @param roundTrips successful statements
     * @param databaseNanos time from their send to their result, without the simulated delay
     * @param delays replies that the simulated network delayed
     * @param delayRequestedNanos requested length of these delays
     * @param delayNanos measured length of these delays
     * @param delayMaxNanos the longest of them, measured
     * @param penalties misses that were filled
     * @param penaltyNanos time from the miss to the cache's reply to the SET, or to its send if no client waits for the
     *     reply
     */
    public record Database(long fetches, long writes, long scans, long failures, long roundTrips, long databaseNanos,
            long delays, long delayRequestedNanos, long delayNanos, long delayMaxNanos, long penalties,
            long penaltyNanos) {

        private void print(PrintStream to, String name) {
            to.println(name + "Fetches, " + fetches);
            to.println(name + "Writes, " + writes);
            to.println(name + "Scans, " + scans);
            to.println(name + "Failures, " + failures);
            mean(to, name + "OwnTime(us), ", databaseNanos, roundTrips);
            to.println(name + "SimulatedDelays, " + delays);
            mean(to, name + "SimulatedDelayAsked(us), ", delayRequestedNanos, delays);
            mean(to, name + "SimulatedDelayMeasured(us), ", delayNanos, delays);
            mean(to, name + "SimulatedDelayLongest(us), ", delayMaxNanos, delays == 0 ? 0 : 1);
            mean(to, name + "MissPenalty(us), ", penaltyNanos, penalties);
        }

        private static void mean(PrintStream to, String name, long nanos, long count) {
            if (count > 0) {
                to.println(name + String.format(Locale.ROOT, "%.1f", nanos / NANOS_PER_MICRO / count));
            }
        }
    }

    /** Fraction of reads that the cache could not answer; 0 without reads. */
    public double missRatio() {
        return hits + misses == 0 ? 0 : (double) misses / (hits + misses);
    }

    /** Prints the counters in the format of YCSB's own measurements. */
    void print(PrintStream to) {
        to.println("[CACHE-ASIDE], Hits, " + hits);
        to.println("[CACHE-ASIDE], Misses, " + misses);
        to.println(String.format(Locale.ROOT, "[CACHE-ASIDE], MissRatio, %.5f", missRatio()));
        to.println("[CACHE-ASIDE], Fills, " + fills);
        to.println("[CACHE-ASIDE], FillsOvertaken, " + overtakenFills);
        to.println("[CACHE-ASIDE], FillsRefused, " + refusedFills);
        to.println("[CACHE-ASIDE], FillsUnhinted, " + unhintedFills);
        to.println("[CACHE-ASIDE], Invalidations, " + invalidations);
        local.print(to, "[DATABASE-LOCAL], ");
        remote.print(to, "[DATABASE-REMOTE], ");
        if (stressed) {
            to.println("[STRESS], OperationsBefore, " + operationsBeforeStress);
            to.println("[STRESS], MillisBefore, " + millisBeforeStress);
        }
    }
}
