package io.varve.memory.eviction;

import java.util.Arrays;

/**
 * Whether an item is among the worst of its shard. Guarded by the shard's lock.
 *
 * <p>Items are not evicted one by one: that would leave segments with a few dead bytes each, and a cleaner that copies
 * dozens of bytes for each it frees. Instead whole segments are emptied, their best items moved and the rest evicted,
 * and this class says where the line is. It draws a sample of the whole shard, scores it, and takes the score at the
 * worst share {@code q} as the line.
 *
 * <p>Redis evicts the worst of {@code n} sampled items (maxmemory-samples), whose expected rank is {@code n/(n+1)}. The
 * mean rank within the worst share {@code q} is {@code 1 - q/2}. Both are equal at {@code q = 2/(n+1)}, which is what is
 * used here: the same quality of choice for the same setting, a third of the items at the default of 5.
 */
public final class Ranking {
    /** How many items are drawn for a line: its error is about 6 % of the items. */
    public static final int SAMPLE = 64;

    /**
     * Added to the score of an item that is to go before all others, whatever their scores are: 2^24 seconds in milliseconds, and the bits
     * that break ties, are less.
     */
    public static final long FIRST = 1L << 62;

    private static final int TIE_BITS = 12;
    private static final long TIE_MASK = (1L << TIE_BITS) - 1;

    private final long[] scores = new long[SAMPLE];
    private int drawn;
    private long line = Long.MAX_VALUE;
    private double goingOfFirst = 1;

    /** Forgets the last sample. */
    public void begin() {
        drawn = 0;
        line = Long.MAX_VALUE;
    }

    public boolean wantsMore() {
        return drawn < SAMPLE;
    }

    public void draw(long score) {
        scores[drawn++] = score;
    }

    /**
     * Draws the line through what was sampled.
     *
     * @param samples maxmemory-samples
     * @return false if nothing was drawn: nobody may go
     */
    public boolean drawLine(int samples) {
        if (drawn == 0) {
            return false;
        }
        Arrays.sort(scores, 0, drawn);
        int worst = Math.max(1, (int) Math.round(drawn * worstShare(samples)));
        line = scores[drawn - worst];
        return true;
    }

    /**
     * As {@link #drawLine}, of those that are not to go {@linkplain #FIRST first}: all that are go, too. Where these are many, and take little, a line through
     * all would leave nobody to go but them.
     *
     * @return false if nothing was drawn
     */
    public boolean drawLineBehindFirst(int samples) {
        if (drawn == 0) {
            return false;
        }
        Arrays.sort(scores, 0, drawn);
        int others = drawn - first();
        line = others == 0 ? FIRST : scores[others - Math.max(1, (int) Math.round(others * worstShare(samples)))];
        return true;
    }

    /** How many are to go first, of scores in their order. */
    private int first() {
        int first = 0;
        while (first < drawn && scores[drawn - 1 - first] >= FIRST) {
            first++;
        }
        return first;
    }

    /**
     * As {@link #drawLine}; but nobody goes except those that are to go {@linkplain #FIRST first}. Of these the worst go: as many as if each were the
     * worst of those that are among {@code samples} drawn, which is all of them where there is mostly one, or where the sample has none.
     */
    public boolean drawLineOfFirst(int samples) {
        if (!drawLine(samples)) {
            return false;
        }
        int first = first();
        int going = 0;
        if (first > 0) {
            double part = (double) first / drawn;
            double met = samples * part / (1 - Math.pow(1 - part, samples));
            going = Math.max(1, (int) Math.round(first * worstShare(met)));
        }
        // All of a few who were drawn are all there are, those that are better than these too.
        line = going == first ? FIRST : scores[drawn - going];
        goingOfFirst = first == 0 ? 1 : (double) going / first;
        return true;
    }

    /** The share that is past the line, by {@link #drawLineOfFirst}, of those that are to go first. */
    public double goingOfFirst() {
        return goingOfFirst;
    }

    /** Puts the line where everything is past it; false if nothing was drawn. */
    public boolean drawLineBelowAll() {
        line = Long.MIN_VALUE;
        return drawn > 0;
    }

    /** Whether an item of this score is on the far side of the line. */
    public boolean goes(long score) {
        return score >= line;
    }

    /** The share of the items that are past the line. */
    public static double worstShare(double samples) {
        return Math.min(1.0, 2.0 / (samples + 1));
    }

    /**
     * The bits that decide between items whose scores are equal otherwise: at random, but never against one that has just come.
     *
     * @param random any bits
     */
    public static long tieBits(boolean isFresh, long random) {
        return isFresh ? 0 : random;
    }

    /**
     * How much an item deserves to go: the larger, the sooner.
     *
     * @param accessBits     the item's 24 access bits
     * @param expireAtMillis its expiry time, or a negative number if it has none
     * @param now            milliseconds, or for a residence the ticks of {@link ResidenceClock}
     * @param random         bits for the policies that choose at random; {@link #tieBits} for the others
     */
    public static long score(EvictionPolicy policy, int accessBits, long expireAtMillis, long now, long random) {
        return switch (policy) {
            // Ties are many among clocks of one second, 256 counts and equal TTLs: random low bits break them.
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
     * The score of hyperbolic caching (Blankstein, Sen and Freedman, USENIX ATC 2017): the lowest of cost times accesses by time in
     * memory goes first.
     *
     * @param accessBits a {@link Residence}
     * @param cost       of a miss, in any unit, from 0; what costs nothing goes first
     * @param ticks      of {@link ResidenceClock}
     */
    public static long hyperbolic(int accessBits, double cost, long ticks, long random) {
        double badness = (Residence.resident(accessBits, ticks) + 1) / (cost * Residence.accesses(accessBits));
        // Positive doubles have the order of their bits; the last of these are below what the count can tell.
        return Double.doubleToRawLongBits(badness) & ~TIE_MASK | random & TIE_MASK;
    }
}
