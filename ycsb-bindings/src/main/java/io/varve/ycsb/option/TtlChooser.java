package io.varve.ycsb.option;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Draws the TTL of each write from a list, as the bucket-expiry paper's modified YCSB does (section 4.2). Confined to
 * the YCSB thread whose client owns it. Each thread has its own random stream, so that one seed gives one sequence per
 * thread, however the threads interleave.
 */
public final class TtlChooser {

    /** The exponent of YCSB's own zipfian generator. */
    private static final double ZIPFIAN_EXPONENT = 0.99;

    private final long[] ttlsMillis;
    /** Cumulative probabilities over the list; the last is 1. */
    private final double[] cumulative;
    private final SplittableRandom random;

    /**
     * Creates a chooser with the random stream of one thread.
     *
     * @param ttlsMillis the TTLs to draw from, at least one
     * @param distribution how the TTLs are drawn
     * @param seed the seed of all threads' streams
     * @param threadNumber which of these streams, from 0
     */
    public TtlChooser(List<Long> ttlsMillis, VarveOptions.TtlDistribution distribution, long seed, int threadNumber) {
        if (ttlsMillis.isEmpty()) {
            throw new IllegalArgumentException("there are no TTLs to choose from");
        }
        this.ttlsMillis = ttlsMillis.stream().mapToLong(Long::longValue).toArray();
        this.cumulative = cumulative(ttlsMillis.size(), distribution);
        // Not seed + threadNumber: split() prevents that neighbouring streams are one stream, shifted.
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
    public long nextMillis() {
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
