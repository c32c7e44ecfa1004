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
 * Keys that have changed since broadcasting clients were last told, gathered by prefix so that each client gets one message for each of its
 * prefixes. Guarded by the lock under which {@link Tracking} tells.
 */
final class BroadcastKeys {
    private final Broadcasts broadcasts;
    /** By the place of the prefix: the keys in order, each with the client that alone has changed it, if there is one. */
    private final Map<Integer, TreeMap<byte[], ChangedBy>> byPrefix = new HashMap<>();
    private long bytes;

    /**
     * Which client has changed a key. Immutable.
     *
     * @param tracker null: several, one that does not track, or none
     */
    private record ChangedBy(@Nullable Tracker tracker) {
        ChangedBy and(ChangedBy other) {
            return equals(other) ? this : new ChangedBy(null);
        }
    }

    BroadcastKeys(Broadcasts broadcasts) {
        this.broadcasts = broadcasts;
    }

    /** Adds a key that a client has changed; null: nobody who tracks. */
    void add(byte[] key, @Nullable Tracker by) {
        bytes += key.length;
        broadcasts.forEachPlaceOf(key, place -> byPrefix.computeIfAbsent(place,
                _ -> new TreeMap<>(Arrays::compareUnsigned)).merge(key, new ChangedBy(by), ChangedBy::and));
    }

    /** What the keys take that were added, bytes. */
    long bytes() {
        return bytes;
    }

    /** Each client with the keys under one of its prefixes, in order: without those that it has changed itself if it wants it so. */
    void forEachMessage(BiConsumer<Tracker, byte[][]> message) {
        byPrefix.forEach((place, keys) -> {
            byte[][] all = keys.keySet().toArray(byte[][]::new);
            for (Tracker tracker : broadcasts.trackersAt(place)) {
                byte[][] told = tracker.options().noLoop() ? changedByOthers(keys, tracker) : all;
                if (told.length > 0) {
                    message.accept(tracker, told);
                }
            }
        });
    }

    private static byte[][] changedByOthers(Map<byte[], ChangedBy> keys, Tracker tracker) {
        List<byte[]> told = new ArrayList<>();
        keys.forEach((key, by) -> {
            if (!tracker.equals(by.tracker())) {
                told.add(key);
            }
        });
        return told.toArray(byte[][]::new);
    }
}
