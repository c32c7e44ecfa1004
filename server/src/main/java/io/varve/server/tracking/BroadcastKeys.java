package io.varve.server.tracking;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

import org.jspecify.annotations.Nullable;

/**
 * Keys that changed since the last broadcast, grouped by prefix so that each client gets one message for each of its
 * prefixes. Guarded by the lock under which {@link Tracking} sends.
 */
final class BroadcastKeys {
    private final BroadcastPrefixes prefixes;
    /** By the index of the prefix: the sorted keys, each with the only client that has changed it, if there is one. */
    private final Map<Integer, TreeMap<byte[], ChangedBy>> byPrefix = new HashMap<>();
    private long bytes;

    /**
     * The client that has changed a key. Immutable.
     *
     * @param tracker null: several clients, one that does not track, or none
     */
    private record ChangedBy(@Nullable Tracker tracker) {
        ChangedBy and(ChangedBy other) {
            return equals(other) ? this : new ChangedBy(null);
        }
    }

    BroadcastKeys(BroadcastPrefixes prefixes) {
        this.prefixes = prefixes;
    }

    /** Adds a key that a client has changed; null: a client that does not track. */
    void add(byte[] key, @Nullable Tracker by) {
        bytes += key.length;
        prefixes.forEachPlaceOf(key, place -> byPrefix.computeIfAbsent(place,
                _ -> new TreeMap<>(Arrays::compareUnsigned)).merge(key, new ChangedBy(by), ChangedBy::and));
    }

    /** Total size of the added keys, bytes. */
    long bytes() {
        return bytes;
    }

    /**
     * Calls back with each client and the sorted keys under one of its prefixes, without its own changes if it excludes
     * them.
     */
    void forEachMessage(BiConsumer<Tracker, byte[][]> message) {
        byPrefix.forEach((place, keys) -> {
            byte[][] all = keys.keySet().toArray(byte[][]::new);
            for (Tracker tracker : prefixes.trackersAt(place)) {
                byte[][] invalid = tracker.options().noLoop() ? changedByOthers(keys, tracker) : all;
                if (invalid.length > 0) {
                    message.accept(tracker, invalid);
                }
            }
        });
    }

    private static byte[][] changedByOthers(Map<byte[], ChangedBy> keys, Tracker tracker) {
        List<byte[]> invalid = new ArrayList<>();
        keys.forEach((key, by) -> {
            if (!tracker.equals(by.tracker())) {
                invalid.add(key);
            }
        });
        return invalid.toArray(byte[][]::new);
    }
}
