package io.varve.experiments.simulate;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The columns of a trace and their meanings. Immutable.
 *
 * @param key name of the key's column; {@code key} if it is null
 * @param bytes columns whose sum is the item's size; none if all items are alike
 * @param operation column of the operation; if it is null all requests are reads
 */
public record TraceColumns(@Nullable String key, List<String> bytes, @Nullable String operation) {
    public TraceColumns {
        bytes = List.copyOf(bytes);
    }

    /** Lines with only a key. */
    public static TraceColumns of(@Nullable String key) {
        return new TraceColumns(key, List.of(), null);
    }

    String keyName() {
        return key == null ? "key" : key;
    }
}
