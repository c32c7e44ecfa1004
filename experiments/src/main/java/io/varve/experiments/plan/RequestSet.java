package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The keys, values and client mixes of one workload of the Redis++ paper (a row of its Table 4). Immutable.
 *
 * <p>Keys and values are random strings. A key's number determines the key, and all keys are distinct: the first block
 * of eight characters is a bijection of the number's 48 bits.
 *
 * @param keyBytes length of every key
 * @param values lengths of most values
 * @param largeValues lengths of the others
 * @param largeShare share of the others, 0 to 1
 * @param readPercents read percentages of the loads with many clients
 * @param distributions key distributions of those loads
 * @param connections number of connections of those loads
 * @param pipelines numbers of requests that a connection of those loads sends at once: 1, and others for loads of their
 *     own
 * @param inProcess whether the same requests are also measured on the cache in process
 */
public record RequestSet(int keyBytes, ValueSizes values, ValueSizes largeValues, double largeShare,
        List<Integer> readPercents, List<KeyDistribution.Kind> distributions, int connections,
        List<Integer> pipelines, boolean inProcess) {
    private static final byte[] ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final int BITS_PER_CHARACTER = 6;
    /** Number of characters that a 48-bit number yields. */
    private static final int BLOCK = 8;
    private static final long MASK = (1L << (BLOCK * BITS_PER_CHARACTER)) - 1;
    private static final int HALF = BLOCK * BITS_PER_CHARACTER / 2;
    private static final long FIRST_FACTOR = 0xff51afd7ed558ccdL;
    private static final long SECOND_FACTOR = 0xc4ceb9fe1a85ec53L;
    private static final long LARGE_SALT = 0x1a49eL;

    public RequestSet {
        if (keyBytes < BLOCK) {
            throw new IllegalArgumentException("key-bytes " + keyBytes + ": expected " + BLOCK
                    + " or more, so that all keys differ");
        }
        readPercents = List.copyOf(readPercents);
        distributions = List.copyOf(distributions);
        pipelines = List.copyOf(pipelines);
    }

    /** @throws IllegalArgumentException if a property is missing or invalid */
    static RequestSet of(Map<String, String> workload) {
        return new RequestSet(Integer.parseInt(property(workload, "key-bytes")),
                ValueSizes.parse(property(workload, "values")), ValueSizes.parse(property(workload, "large-values")),
                Double.parseDouble(property(workload, "large-share")),
                Arrays.stream(property(workload, "reads").split(" ", -1)).map(Integer::valueOf).toList(),
                Arrays.stream(property(workload, "distributions").split(" ", -1)).map(KeyDistribution.Kind::of)
                        .toList(),
                Integer.parseInt(property(workload, "connections")),
                Arrays.stream(workload.getOrDefault("pipelines", "1").split(" ", -1)).map(Integer::valueOf).toList(),
                "yes".equals(workload.get("in-process")));
    }

    private static String property(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new IllegalArgumentException(
                    "a set of requests has no " + name + ": it needs key-bytes, values, "
                            + "large-values, large-share, reads, distributions, connections");
        }
        return text;
    }

    /** Length of a value, determined by the seed and by a random number drawn for the value. */
    public int valueBytes(long seed, long number) {
        return ValueSizes.fraction(seed + LARGE_SALT, number) < largeShare
                ? largeValues.of(seed, number)
                : values.of(seed, number);
    }

    public int maxValueBytes() {
        return Math.max(values.max(), largeValues.max());
    }

    public double meanValueBytes() {
        return (1 - largeShare) * values.mean() + largeShare * largeValues.mean();
    }

    /** Writes the key of a number, which is at least 0 and below 2^48. */
    public void putKey(long seed, long number, byte[] into) {
        long block = scramble(number);
        for (int i = 0; i < keyBytes; i++) {
            if (i % BLOCK == 0 && i > 0) {
                block = ValueSizes.mixed(seed + i, number) & MASK;
            }
            into[i] = character(block >>> (i % BLOCK * BITS_PER_CHARACTER));
        }
    }

    /** A character for the lowest bits of a number. */
    public static byte character(long number) {
        return ALPHABET[(int) (number & (ALPHABET.length - 1))];
    }

    /** A bijection of 48 bits: multiplying by an odd factor and xoring with the upper half are both invertible. */
    private static long scramble(long number) {
        long scrambled = number * FIRST_FACTOR & MASK;
        scrambled ^= scrambled >>> HALF;
        scrambled = scrambled * SECOND_FACTOR & MASK;
        return scrambled ^ scrambled >>> HALF;
    }
}
