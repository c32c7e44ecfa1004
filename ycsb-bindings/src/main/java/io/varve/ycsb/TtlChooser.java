package io.varve.ycsb;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws the TTL of each write from a list, as the bucket-expiry paper's modified YCSB does (section 4.2). Confined to the
 * YCSB thread whose client owns it: each thread has a random stream of its own, so that one seed gives one sequence per
 * thread however the threads interleave.
 */
final class TtlChooser {

    /** The exponent that YCSB's own zipfian generator has. */
    private static final double ZIPFIAN_EXPONENT = 0.99;

    private final long[] ttlsMillis;
    /** The probability that a draw is this one of the list or an earlier one; the last is 1. */
    private final double[] cumulative;
    private final SplittableRandom random;

    /**
     * A chooser with the stream of one thread.
     *
     * @param ttlsMillis what to draw from, at least one
     * @param distribution how
     * @param seed of all threads' streams
     * @param threadNumber which of these streams, from 0
     */
    TtlChooser(List<Long> ttlsMillis, VarveOptions.TtlDistribution distribution, long seed, int threadNumber) {
        if (ttlsMillis.isEmpty()) {
            throw new IllegalArgumentException("no TTL to draw from");
        }
        this.ttlsMillis = ttlsMillis.stream().mapToLong(Long::longValue).toArray();
        this.cumulative = cumulative(ttlsMillis.size(), distribution);
        // Not seed + threadNumber: split() is what keeps streams of neighbours from being one stream, shifted.
        SplittableRandom root = new SplittableRandom(seed);
        SplittableRandom stream = root.split();
        for (int i = 0; i < threadNumber; i++) {
            stream = root.split();
        }
        this.random = stream;
    }

    /**
     * Draws.
     *
     * @return the next TTL, milliseconds
     */
    long nextMillis() {
        double draw = random.nextDouble();
        int i = 0;
        while (draw >= cumulative[i]) {
            i++;
        }
        return ttlsMillis[i];
    }

    private static double[] cumulative(int count, VarveOptions.TtlDistribution distribution) {
        double[] cumulative = new double[count];
        double sum = 0;
        for (int i = 0; i < count; i++) {
            sum += switch (distribution) {
                case UNIFORM -> 1;
                case ZIPFIAN -> Math.pow(i + 1, -ZIPFIAN_EXPONENT);
                case CONSTANT -> i == 0 ? 1 : 0;
            };
            cumulative[i] = sum;
        }
        for (int i = 0; i < count; i++) {
            cumulative[i] /= sum;
        }
        return cumulative;
    }
}
