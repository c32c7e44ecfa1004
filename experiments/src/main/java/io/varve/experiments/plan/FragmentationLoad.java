package io.varve.experiments.plan;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * A row of redis-plus-plus's Table 1, at our limit. Immutable.
 *
 * @param keyBytes length of every key
 * @param loadBytes keys and values of one load: twice maxmemory
 * @param before values of the first load
 * @param deleteShare share of its keys that are deleted, 0 to 1
 * @param after values of the second load; null if there is none
 */
public record FragmentationLoad(int keyBytes, long loadBytes, ValueSizes before, double deleteShare,
        @Nullable ValueSizes after) {
    /** The size of one load in multiples of the limit. */
    private static final long TIMES = 2;

    /** @throws IllegalArgumentException if a property is missing or invalid */
    static FragmentationLoad of(Map<String, String> workload, long maxmemory) {
        String after = workload.get("after");
        return new FragmentationLoad(Integer.parseInt(workload.getOrDefault("key-bytes", "100")), TIMES * maxmemory,
                ValueSizes.parse(workload.getOrDefault("before", "")),
                Double.parseDouble(workload.getOrDefault("delete", "0")),
                after == null ? null : ValueSizes.parse(after));
    }

    /** Number of items of the first load. */
    public int firstItems() {
        return items(before);
    }

    /** Number of items of the second load, whose keys follow those of the first. */
    public int secondItems() {
        return after == null ? 0 : items(after);
    }

    /** Length of the value of a key, by its number. */
    public int valueBytes(long seed, long key) {
        return after == null || key < firstItems() ? before.of(seed, key) : after.of(seed, key);
    }

    public int maxValueBytes() {
        return after == null ? before.max() : Math.max(before.max(), after.max());
    }

    /** Number of commands of one pass of loads and deletes. */
    long commands() {
        return (long) (firstItems() * (1 + deleteShare)) + secondItems();
    }

    private int items(ValueSizes sizes) {
        return Math.toIntExact(Math.round(loadBytes / (keyBytes + sizes.mean())));
    }
}
