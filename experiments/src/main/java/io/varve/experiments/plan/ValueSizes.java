package io.varve.experiments.plan;

/**
 * Uniformly distributed value lengths between two bounds. Immutable. A length is determined by the key's number alone,
 * so that the stored bytes can be summed up from the keys.
 *
 * @param min bytes
 * @param max bytes
 */
public record ValueSizes(int min, int max) {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    public ValueSizes {
        if (min < 1 || max < min) {
            throw new IllegalArgumentException(
                    "value bytes " + min + "-" + max + ": expected 1 or more, or a range");
        }
    }

    /** {@code 100} or {@code 100-200}. */
    public static ValueSizes parse(String text) {
        String[] ends = text.split("-", -1);
        if (ends.length > 2 || !text.matches("[0-9-]+")) {
            throw new IllegalArgumentException("value bytes '" + text + "': expected a number or a range as 100-200");
        }
        return new ValueSizes(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
    }

    public double mean() {
        return (min + max) / 2.0;
    }

    public int of(long seed, long key) {
        return min + (int) Long.remainderUnsigned(mixed(seed, key), max - min + 1L);
    }

    /** 64 pseudo-random bits: Stafford's variant 13 of a murmur finalizer. */
    public static long mixed(long seed, long key) {
        long z = seed + (key + 1) * GOLDEN;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /** A number from 0 to 1, determined by the key's number: it selects a share of the keys. */
    public static double fraction(long seed, long key) {
        return (mixed(seed, key) >>> 11) * 0x1p-53;
    }
}
