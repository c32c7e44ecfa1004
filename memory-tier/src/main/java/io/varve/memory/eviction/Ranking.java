package io.varve.memory.eviction;

import java.util.Arrays;

/**
 * Decides whether an item is among the worst of its shard. Guarded by the shard's lock.
 *
 * <p>The evictor does not remove items one by one: segments would keep a few dead bytes each, and the cleaner would
 * copy dozens of bytes for each byte it frees. Instead it empties whole segments: it moves their best items and evicts
 * the rest. This class computes the threshold between them. It samples the whole shard, scores the sample, and takes
 * the score at the worst share {@code q} as the threshold.
 *
 * <p>Redis evicts the worst of {@code n} sampled items (maxmemory-samples), whose expected rank is {@code n/(n+1)}. The
 * mean rank within the worst share {@code q} is {@code 1 - q/2}. Both are equal at {@code q = 2/(n+1)}, which this
 * class uses. A setting thus gives the same quality of choice as in Redis; at the default of 5 the share is a third of
 * the items.
 */
public final class Ranking {
    /** The sample size for a threshold: its error is about 6 % of the items. */
    public static final int SAMPLE = 64;

    /**
     * Added to the score of an item that must be evicted before all others, whatever its score. It exceeds 2^24 seconds
     * in milliseconds together with the bits that break ties.
     */
    public static final long FIRST = 1L << 62;

    private static final int TIE_BITS = 12;
    private static final long TIE_MASK = (1L << TIE_BITS) - 1;

    private static final long[] NONE = {};

    /** Empty until the first sample. */
    private long[] scores = NONE;
    private int sampled;
    private long threshold = Long.MAX_VALUE;
    private double evictedShareOfFirst = 1;

    /** Discards the last sample. */
    public void begin() {
        sampled = 0;
        threshold = Long.MAX_VALUE;
    }

    public boolean needsMore() {
        return sampled < SAMPLE;
    }

    public void add(long score) {
        if (scores.length == 0) {
            scores = new long[SAMPLE];
        }
        scores[sampled++] = score;
    }

    /**
     * Computes the threshold from the sample.
     *
     * @param samples maxmemory-samples
     * @return false if nothing was sampled: no item may be evicted
     */
    public boolean setThreshold(int samples) {
        if (sampled == 0) {
            return false;
        }
        Arrays.sort(scores, 0, sampled);
        int worst = Math.max(1, (int) Math.round(sampled * worstShare(samples)));
        threshold = scores[sampled - worst];
        return true;
    }

    /**
     * As {@link #setThreshold}, for the items that are not to be evicted {@linkplain #FIRST first}; all of those are
     * past the threshold too. If those are many and small, a threshold through all items would select only them.
     *
     * @return false if nothing was sampled
     */
    public boolean setThresholdBehindFirst(int samples) {
        if (sampled == 0) {
            return false;
        }
        Arrays.sort(scores, 0, sampled);
        int others = sampled - first();
        threshold = others == 0 ? FIRST : scores[others - Math.max(1, (int) Math.round(others * worstShare(samples)))];
        return true;
    }

    /** The number of items to be evicted first, in the sorted scores. */
    private int first() {
        int first = 0;
        while (first < sampled && scores[sampled - 1 - first] >= FIRST) {
            first++;
        }
        return first;
    }

    /**
     * As {@link #setThreshold}, but only items that are to be evicted {@linkplain #FIRST first} are past the threshold,
     * and of these the worst. Their number is as if each were the worst of those among {@code samples} sampled items.
     * It is all of them if there is mostly one, or if the sample has none.
     */
    public boolean setThresholdOfFirst(int samples) {
        if (!setThreshold(samples)) {
            return false;
        }
        int first = first();
        int evicted = 0;
        if (first > 0) {
            double part = (double) first / sampled;
            double met = samples * part / (1 - Math.pow(1 - part, samples));
            evicted = Math.max(1, (int) Math.round(first * worstShare(met)));
        }
        // If all of the few sampled are past it, so are all others of their kind, even better ones.
        threshold = evicted == first ? FIRST : scores[sampled - evicted];
        evictedShareOfFirst = first == 0 ? 1 : (double) evicted / first;
        return true;
    }

    /** The share of the items to be evicted first that are past the threshold of {@link #setThresholdOfFirst}. */
    public double evictedShareOfFirst() {
        return evictedShareOfFirst;
    }

    /** Sets the threshold so that everything is past it; false if nothing was sampled. */
    public boolean setThresholdBelowAll() {
        threshold = Long.MIN_VALUE;
        return sampled > 0;
    }

    /** Whether an item of this score is past the threshold. */
    public boolean isEvicted(long score) {
        return score >= threshold;
    }

    /** The share of the items that are past the threshold. */
    public static double worstShare(double samples) {
        return Math.min(1.0, 2.0 / (samples + 1));
    }

    /**
     * The bits that decide between items with otherwise equal scores: random, but always in favour of a new one.
     *
     * @param random any bits
     */
    public static long tieBits(boolean isFresh, long random) {
        return isFresh ? 0 : random;
    }

    /**
     * The score of an item: the larger, the sooner it is evicted.
     *
     * @param accessBits the item's 24 access bits
     * @param expireAtMillis its expiry time, or a negative number if it has none
     * @param now milliseconds, or for a residence the ticks of {@link ResidenceClock}
     * @param random bits for the policies that choose at random; {@link #tieBits} for the others
     */
    public static long score(EvictionPolicy policy, int accessBits, long expireAtMillis, long now, long random) {
        return switch (policy) {
            // Ties are frequent among clocks of one second, 256 counts and equal TTLs: random low bits break them.
            case ALLKEYS_LRU, VOLATILE_LRU, ALLKEYS_PENALTY ->
                (AccessBits.idleMillis(accessBits, now) << TIE_BITS) + (random & TIE_MASK);
            case ALLKEYS_LFU, VOLATILE_LFU ->
                (255L - AccessBits.frequency(accessBits, now) << TIE_BITS) + (random & TIE_MASK);
            case VOLATILE_TTL -> (-expireAtMillis << TIE_BITS) + (random & TIE_MASK);
            case ALLKEYS_HYPERBOLIC -> hyperbolic(accessBits, 1, now, random);
            case ALLKEYS_RANDOM, VOLATILE_RANDOM -> random >>> 1;
            case NOEVICTION -> Long.MIN_VALUE;
        };
    }

    /**
     * The score of hyperbolic caching (Blankstein, Sen and Freedman, USENIX ATC 2017): the item with the lowest cost
     * times accesses by time in memory is evicted first.
     *
     * @param accessBits a {@link Residence}
     * @param cost the cost of a miss, in any unit, from 0; items without cost are evicted first
     * @param ticks the present tick of {@link ResidenceClock}
     */
    public static long hyperbolic(int accessBits, double cost, long ticks, long random) {
        double priority = (Residence.resident(accessBits, ticks) + 1) / (cost * Residence.accesses(accessBits));
        // Positive doubles have the order of their bits; the lowest bits are below the precision of the count.
        return Double.doubleToRawLongBits(priority) & ~TIE_MASK | random & TIE_MASK;
    }
}
