package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A row of redis-plus-plus's Table 4, and what its clients do with it. Immutable.
 *
 * <p>Keys and values are random strings. A key is told by its number, and no two are alike: each block of eight characters
 * of the first is a number of 48 bits that has been turned into another, and back again would be the same.
 *
 * @param keyBytes      of every key
 * @param values        lengths of most values
 * @param largeValues   lengths of the others
 * @param largeShare    how many the others are, 0 to 1
 * @param readPercents  of the requests of the loads with many clients
 * @param distributions of the keys of those loads
 * @param connections   of those loads
 */
public record RequestSet(int keyBytes, ValueSizes values, ValueSizes largeValues, double largeShare,
        List<Integer> readPercents, List<KeyDistribution.Kind> distributions, int connections) {
    private static final byte[] ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
            .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    private static final int BITS_PER_CHARACTER = 6;
    /** Characters that one number gives. */
    private static final int BLOCK = 8;
    private static final long MASK = (1L << (BLOCK * BITS_PER_CHARACTER)) - 1;
    private static final int HALF = BLOCK * BITS_PER_CHARACTER / 2;
    private static final long FIRST_ODD = 0xff51afd7ed558ccdL;
    private static final long SECOND_ODD = 0xc4ceb9fe1a85ec53L;
    private static final long LARGE_SALT = 0x1a49eL;

    public RequestSet {
        if (keyBytes < BLOCK) {
            throw new IllegalArgumentException("key-bytes " + keyBytes + ": allowed is " + BLOCK
                    + " or more, or keys would not differ");
        }
        readPercents = List.copyOf(readPercents);
        distributions = List.copyOf(distributions);
    }

    /** @throws IllegalArgumentException if a property is missing or cannot be */
    static RequestSet of(Map<String, String> workload) {
        return new RequestSet(Integer.parseInt(property(workload, "key-bytes")),
                ValueSizes.parse(property(workload, "values")), ValueSizes.parse(property(workload, "large-values")),
                Double.parseDouble(property(workload, "large-share")),
                Arrays.stream(property(workload, "reads").split(" ", -1)).map(Integer::valueOf).toList(),
                Arrays.stream(property(workload, "distributions").split(" ", -1)).map(KeyDistribution.Kind::of)
                        .toList(),
                Integer.parseInt(property(workload, "connections")));
    }

    private static String property(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new IllegalArgumentException(
                    "a set of requests has no " + name + ": it is to have key-bytes, values, "
                            + "large-values, large-share, reads, distributions, connections");
        }
        return text;
    }

    /** Length of a value, told by a number that is drawn for it. */
    public int valueBytes(long seed, long number) {
        return ValueSizes.fraction(seed + LARGE_SALT, number) < largeShare
                ? largeValues.of(seed, number)
                : values.of(seed, number);
    }

    public int mostValueBytes() {
        return Math.max(values.most(), largeValues.most());
    }

    public double meanValueBytes() {
        return (1 - largeShare) * values.mean() + largeShare * largeValues.mean();
    }

    /** Writes the key of that number, from 0 to 2^48, into the bytes. */
    public void putKey(long seed, long number, byte[] into) {
        long block = turned(number);
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

    /** 48 bits for 48 bits: an odd factor and a shift by half of them can each be undone. */
    private static long turned(long number) {
        long turned = number * FIRST_ODD & MASK;
        turned ^= turned >>> HALF;
        turned = turned * SECOND_ODD & MASK;
        return turned ^ turned >>> HALF;
    }
}
