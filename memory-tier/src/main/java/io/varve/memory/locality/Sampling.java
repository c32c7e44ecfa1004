package io.varve.memory.locality;

/**
 * How many requests are drawn. Immutable.
 *
 * <p>The rate begins at the highest and falls, in steps of an eighth, while more keys than wanted are followed, down to the lowest. There
 * the table fills to one and a half times the keys wanted; past that the rate falls below the lowest, because memory is fixed.
 *
 * @param lowest  share of the requests, above 0
 * @param highest share of the requests, at most 1
 * @param keys    followed at a time
 */
public record Sampling(double lowest, double highest, int keys) {
    private static final int MOST_KEYS = 1 << 27;

    /** 1 % of the requests, or what keeps 64,000 keys in the table if that is more. */
    public static final Sampling DEFAULT = new Sampling(0.01, 1, 64_000);

    /** @throws IllegalArgumentException naming what is out of its range */
    public Sampling {
        if (!(lowest > 0 && lowest <= highest && highest <= 1)) {
            throw new IllegalArgumentException(
                    "The rates go up from above 0 to 1, not from " + lowest + " to " + highest);
        }
        if (keys < 1 || keys > MOST_KEYS) {
            throw new IllegalArgumentException("The keys followed are 1 to " + MOST_KEYS + ", not " + keys);
        }
    }

    /** All requests of a stream with so many keys. */
    public static Sampling all(int keys) {
        return new Sampling(1, 1, keys);
    }
}
