package io.varve.experiments.plan;

import java.util.Locale;
import java.util.SplittableRandom;

/**
 * The request frequency of keys. Immutable; the caller supplies the random numbers.
 *
 * <p>The zipfian distribution is YCSB's: the probability of the key of rank r is proportional to 1 / r^0.99 (J. Gray et
 * al., "Quickly generating billion-record synthetic databases", SIGMOD 1994, gives the formula). Ranks are scattered
 * over the key numbers, so that frequent keys were not written one after the other. YCSB's own class uses a random
 * source that cannot be seeded.
 */
public final class KeyDistribution {
    private static final double THETA = 0.99;
    /** A prime greater than any number of keys: multiplication by it, modulo the number of keys, is a bijection. */
    private static final long SCATTER = 2_654_435_761L;

    /** The distributions, under the paper's names. */
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

        /** A human-readable name. */
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

    /** @param keys number of keys, below 2^31 */
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

    /** Draws a key's number. */
    public long next(SplittableRandom random) {
        return kind == Kind.UNIF ? random.nextLong(keys) : place(random.nextDouble()) * SCATTER % keys;
    }

    /** Draws a rank, from 0, the most frequent. */
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
