package io.varve.experiments.plan;

import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Which keys are asked for how often. Immutable, but for the random numbers that the caller brings.
 *
 * <p>The zipfian one is YCSB's: the probability of the key in place r is as 1 / r^0.99 (J. Gray et al., "Quickly
 * generating billion-record synthetic databases", SIGMOD 1994, gives the formula). Places are scattered over the numbers,
 * so that frequent keys were not written one after the other. YCSB's own class takes its random numbers from a source that
 * cannot be seeded.
 */
public final class KeyDistribution {
    private static final double THETA = 0.99;
    /** A prime greater than any number of keys: times it, modulo their number, no two places are one key. */
    private static final long SCATTER = 2_654_435_761L;

    /** As the paper calls them. */
    public enum Kind {
        UNIF, ZIPF;

        static Kind of(String name) {
            return switch (name) {
                case "unif" -> UNIF;
                case "zipf" -> ZIPF;
                default -> throw new IllegalArgumentException(
                        "distribution '" + name + "': allowed are unif, zipf");
            };
        }

        /** For people. */
        public String title() {
            return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
        }
    }

    private final Kind kind;
    private final long keys;
    private final double sum;
    private final double eta;
    private final double alpha = 1 / (1 - THETA);
    private final double second;

    /** @param keys how many there are, below 2^31 */
    public KeyDistribution(Kind kind, long keys) {
        if (keys < 2 || keys > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(keys + " keys: allowed are 2 to " + Integer.MAX_VALUE);
        }
        this.kind = kind;
        this.keys = keys;
        this.sum = kind == Kind.ZIPF ? harmonic(keys) : 0;
        this.second = 1 + Math.pow(0.5, THETA);
        this.eta = (1 - Math.pow(2.0 / keys, 1 - THETA)) / (1 - second / sum);
    }

    private static double harmonic(long count) {
        double sum = 0;
        for (long place = 1; place <= count; place++) {
            sum += Math.pow(place, -THETA);
        }
        return sum;
    }

    /** A key's number. */
    public long next(SplittableRandom random) {
        return kind == Kind.UNIF ? random.nextLong(keys) : place(random.nextDouble()) * SCATTER % keys;
    }

    /** From 0, the most frequent. */
    private long place(double fraction) {
        double scaled = fraction * sum;
        if (scaled < 1) {
            return 0;
        }
        if (scaled < second) {
            return 1;
        }
        return Math.min(keys - 1, (long) (keys * Math.pow(eta * fraction - eta + 1, alpha)));
    }
}
