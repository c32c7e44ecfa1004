package io.varve.memory.locality.curve;

/**
 * The range of sampling rates. Immutable.
 *
 * <p>The rate begins at the highest. While more keys than wanted are followed, it falls in steps of an eighth, down to
 * the lowest. There the table fills to one and a half times the wanted keys. Beyond that the rate falls below the
 * lowest, because memory is fixed.
 *
 * @param lowest the lowest share of the requests, above 0
 * @param highest the highest share of the requests, at most 1
 * @param keys the keys that are followed at a time
 */
public record Sampling(double lowest, double highest, int keys) {
    private static final int MAX_KEYS = 1 << 27;

    /** 1 % of the requests, or the rate that keeps 64,000 keys in the table if that is more. */
    public static final Sampling DEFAULT = new Sampling(0.01, 1, 64_000);

    /** @throws IllegalArgumentException naming the setting that is out of its range */
    public Sampling {
        if (!(lowest > 0 && lowest <= highest && highest <= 1)) {
            throw new IllegalArgumentException(
                    "The rates go up from above 0 to 1, not from " + lowest + " to " + highest);
        }
        if (keys < 1 || keys > MAX_KEYS) {
            throw new IllegalArgumentException(
                    "The number of followed keys must be 1 to " + MAX_KEYS + ", not " + keys);
        }
    }

    /** All requests of a stream with this number of keys. */
    public static Sampling all(int keys) {
        return new Sampling(1, 1, keys);
    }
}
