package io.varve.memory.segment;

/**
 * Computes the profit of cleaning a segment (redis-plus-plus, section 3, equation 1, and section 5.2). Immutable:
 * static methods only.
 *
 * <p>Cleaning gains the free space 1-u and costs copying u. Stable data makes it more profitable, because such data
 * does not die without cleaning.
 */
final class CleaningProfit {
    private CleaningProfit() {}

    /**
     * @param liveBytes live bytes in the segment, at least 1
     * @param extentBytes the bytes of the segment that may be filled
     * @param lifetimeMillis the mean lifetime of its items; values below 1 ms count as 1 ms, so that utilization
     *     still decides
     */
    static double of(CleanerPolicy policy, int liveBytes, int extentBytes, double lifetimeMillis) {
        double gain = (double) (extentBytes - liveBytes) / liveBytes;
        double lifetime = Math.max(1, lifetimeMillis);
        return switch (policy) {
            case GREEDY -> gain;
            case ORIGINAL -> gain * lifetime;
            case MODIFIED -> gain * Math.sqrt(lifetime);
        };
    }
}
