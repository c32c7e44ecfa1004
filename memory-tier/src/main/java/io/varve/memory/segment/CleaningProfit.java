package io.varve.memory.segment;

/**
 * What cleaning a segment is worth (redis-plus-plus, section 3, equation 1, and section 5.2). Immutable: static methods
 * only.
 *
 * <p>The free space gained is 1-u, the cost is copying u; stable data is worth it more, because it does not die by itself.
 */
final class CleaningProfit {
    private CleaningProfit() {}

    /**
     * @param liveBytes      bytes that live in the segment, at least 1
     * @param extentBytes    how much of the segment is filled at most
     * @param lifetimeMillis the mean over its items; below a millisecond counts as one, so that utilization still decides
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
