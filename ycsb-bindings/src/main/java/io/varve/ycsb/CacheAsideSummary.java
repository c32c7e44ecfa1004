package io.varve.ycsb;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * What the clients of a process have done with cache and databases. Immutable.
 *
 * @param hits                  reads that the cache answered
 * @param misses                reads that it could not
 * @param fills                 misses whose record was put into the cache
 * @param overtakenFills        those whose record was not, because of a write meanwhile
 * @param refusedFills          those whose record was not, because the cache refused it
 * @param unhintedFills         fills whose hint the cache refused
 * @param invalidations         records that were deleted from the cache, or were not there, after a write
 * @param local                 the near database
 * @param remote                the far one
 * @param stressed              whether the far one's delay was raised
 * @param operationsBeforeStress calls of the binding before that; 0 without
 * @param millisBeforeStress    from the first operation to that; 0 without
 */
public record CacheAsideSummary(long hits, long misses, long fills, long overtakenFills, long refusedFills,
        long unhintedFills, long invalidations, Database local, Database remote, boolean stressed,
        long operationsBeforeStress,
        long millisBeforeStress) {

    private static final double NANOS_PER_MICRO = TimeUnit.MICROSECONDS.toNanos(1);

    /**
     * One database's part. Immutable. Times are nanoseconds, summed up.
     *
     * @param fetches         records asked for after a miss
     * @param writes          statements that insert, update or delete
     * @param scans           ranges asked for
     * @param failures        statements that failed
     * @param roundTrips      statements that did not
     * @param databaseNanos   from their sending to their result, without the simulated delay
     * @param delays          answers that were held back: a simulated network
     * @param delayAskedNanos for how long they should have been
     * @param delayNanos      for how long they were, measured
     * @param delayMaxNanos   the longest of them, measured
     * @param penalties       misses that were made good
     * @param penaltyNanos    from the miss to the cache's answer to the SET; to when that was sent if nobody waits for it
     */
    public record Database(long fetches, long writes, long scans, long failures, long roundTrips, long databaseNanos,
            long delays, long delayAskedNanos, long delayNanos, long delayMaxNanos, long penalties,
            long penaltyNanos) {

        private void print(PrintStream to, String name) {
            to.println(name + "Fetches, " + fetches);
            to.println(name + "Writes, " + writes);
            to.println(name + "Scans, " + scans);
            to.println(name + "Failures, " + failures);
            mean(to, name + "OwnTime(us), ", databaseNanos, roundTrips);
            to.println(name + "SimulatedDelays, " + delays);
            mean(to, name + "SimulatedDelayAsked(us), ", delayAskedNanos, delays);
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

    /** The part of reads that the cache could not answer; 0 if there were none. */
    public double missRatio() {
        return hits + misses == 0 ? 0 : (double) misses / (hits + misses);
    }

    /** Prints it in the form of YCSB's own measurements. */
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
