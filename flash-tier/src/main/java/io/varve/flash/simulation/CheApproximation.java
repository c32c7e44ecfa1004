package io.varve.flash.simulation;

/**
 * The hit ratio of a cache if each request draws its key independently with a fixed popularity (Che, Tung and Wang
 * 2002; for random replacement Fricker, Robert and Roberts 2012). Immutable: static methods only.
 *
 * <p>A key stays in the cache for a time T, measured in requests, that is equal for all keys. With LRU it is the time
 * since the last request, with random replacement the mean time since the insertion. T is the value at which the cache
 * is full on average.
 *
 * <pre>
 *   LRU:     P(key i is cached) = 1 - exp(-p_i T)          sum over all keys = capacity
 *   random:  P(key i is cached) = p_i T / (1 + p_i T)      hit ratio = sum of p_i P(key i is cached)
 * </pre>
 */
public final class CheApproximation {
    private static final int ROUNDS = 200;
    private static final double PRECISE = 1e-12;

    private CheApproximation() {}

    /** The probability that a key is cached, given the product of its popularity and T. */
    @FunctionalInterface
    private interface Occupancy {
        double of(double load);
    }

    /**
     * @param capacity keys, above 0 and below their number
     * @return 0 to 1
     * @throws IllegalArgumentException if the capacity is out of its range
     */
    public static double lru(Popularity popularity, double capacity) {
        return hitRatio(popularity, capacity, load -> -Math.expm1(-load));
    }

    /** The hit ratio under random replacement, and under FIFO. */
    public static double random(Popularity popularity, double capacity) {
        return hitRatio(popularity, capacity, load -> load / (1 + load));
    }

    private static double hitRatio(Popularity popularity, double capacity, Occupancy occupancy) {
        double all = popularity.count();
        if (!(capacity > 0 && capacity < all)) {
            throw new IllegalArgumentException(
                    "The capacity is above 0 and below the number of keys, " + all + ", not " + capacity);
        }
        double low = 0;
        double high = all;
        while (occupied(popularity, high, occupancy) < capacity) {
            high *= 2;
        }
        for (int round = 0; round < ROUNDS && high - low > PRECISE * high; round++) {
            double middle = (low + high) / 2;
            if (occupied(popularity, middle, occupancy) < capacity) {
                low = middle;
            } else {
                high = middle;
            }
        }
        double hits = 0;
        for (int kind = 0; kind < popularity.kinds(); kind++) {
            double p = popularity.probability(kind);
            hits += popularity.keys(kind) * p * occupancy.of(p * high);
        }
        return hits;
    }

    private static double occupied(Popularity popularity, double time, Occupancy occupancy) {
        double sum = 0;
        for (int kind = 0; kind < popularity.kinds(); kind++) {
            sum += popularity.keys(kind) * occupancy.of(popularity.probability(kind) * time);
        }
        return sum;
    }
}
