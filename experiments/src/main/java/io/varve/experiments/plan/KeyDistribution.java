package io.varve.experiments.plan;

import java.util.Locale;
import java.util.SplittableRandom;

/**
 * Draws the numbers of requested keys, uniformly or by a zipfian distribution. Immutable; the caller supplies the
 * random numbers.
 *
 * <p>The zipfian distribution is YCSB's: the probability of the key of rank r is proportional to 1 / r^0.99 (J. Gray et
 * al., "Quickly generating billion-record synthetic databases", SIGMOD 1994, gives the formula). Ranks are scattered
 * over the key numbers, so that the most frequent keys are not next to each other in the order in which keys are
 * loaded. YCSB's own class uses a random source that cannot be seeded.
 */
public final class KeyDistribution {
    private static final double THETA = 0.99;
    /** A prime greater than any number of keys: multiplication by it, modulo the number of keys, is a bijection. */
    private static final long SCATTER = 2_654_435_761L;

    /** The distributions, named as in the Redis++ paper. */
    public enum Kind {
        UNIF, ZIPF;

        static Kind of(String name) {
            return switch (name) {
                case "unif" -> UNIF;
                case "zipf" -> ZIPF;
                default -> throw new IllegalArgumentException(
                        "distribution '" + name + "': expected unif, zipf");
            };
        }

        /** A human-readable name. */
        public String title() {
            return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
        }
    }

    private final Kind kind;
    private final long keys;
    private final double zeta;
    private final double eta;
    private final double alpha = 1 / (1 - THETA);
    /** The zeta sum of the first two ranks: below it lies rank 1. */
    private final double zetaOfTwo;

    /** @param keys number of keys, below 2^31 */
    public KeyDistribution(Kind kind, long keys) {
        if (keys < 2 || keys > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(keys + " keys: expected 2 to " + Integer.MAX_VALUE);
        }
        this.kind = kind;
        this.keys = keys;
        this.zeta = kind == Kind.ZIPF ? zeta(keys) : 0;
        this.zetaOfTwo = 1 + Math.pow(0.5, THETA);
        this.eta = (1 - Math.pow(2.0 / keys, 1 - THETA)) / (1 - zetaOfTwo / zeta);
    }

    private static double zeta(long count) {
        double sum = 0;
        for (long rank = 1; rank <= count; rank++) {
            sum += Math.pow(rank, -THETA);
        }
        return sum;
    }

    /** Draws a key's number. */
    public long next(SplittableRandom random) {
        return kind == Kind.UNIF ? random.nextLong(keys) : rank(random.nextDouble()) * SCATTER % keys;
    }

    /** Draws a rank, from 0, the most frequent. */
    private long rank(double fraction) {
        double scaled = fraction * zeta;
        if (scaled < 1) {
            return 0;
        }
        if (scaled < zetaOfTwo) {
            return 1;
        }
        return Math.min(keys - 1, (long) (keys * Math.pow(eta * fraction - eta + 1, alpha)));
    }
}
