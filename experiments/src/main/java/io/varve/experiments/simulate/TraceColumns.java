package io.varve.experiments.simulate;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Which columns of a trace say what. Immutable.
 *
 * @param key       the key's name; without one it is {@code key}
 * @param bytes     those whose sum is what the item takes; none if all items are alike
 * @param operation what is done; without one all requests are reads
 */
public record TraceColumns(@Nullable String key, List<String> bytes, @Nullable String operation) {
    public TraceColumns {
        bytes = List.copyOf(bytes);
    }

    /** Lines that tell nothing but a key. */
    public static TraceColumns of(@Nullable String key) {
        return new TraceColumns(key, List.of(), null);
    }

    String keyName() {
        return key == null ? "key" : key;
    }
}
