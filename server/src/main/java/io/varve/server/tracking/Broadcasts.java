package io.varve.server.tracking;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.varve.server.pubsub.Name;

/** Who is told of all keys with which prefixes. Immutable. */
final class Broadcasts {
    static final Broadcasts NONE = new Broadcasts(Map.of());

    private final Map<Name, List<Tracker>> byPrefix;

    private Broadcasts(Map<Name, List<Tracker>> byPrefix) {
        this.byPrefix = byPrefix;
    }

    int prefixCount() {
        return byPrefix.size();
    }

    /** With one more, if it broadcasts. */
    Broadcasts with(Tracker tracker) {
        TrackingOptions options = tracker.options();
        if (!options.broadcasts()) {
            return this;
        }
        Map<Name, List<Tracker>> more = new LinkedHashMap<>(byPrefix);
        for (Name prefix : options.prefixes()) {
            List<Tracker> told = new ArrayList<>(more.getOrDefault(prefix, List.of()));
            told.add(tracker);
            more.put(prefix, told);
        }
        return new Broadcasts(more);
    }

    /** With one less. */
    Broadcasts without(Tracker tracker) {
        if (!tracker.options().broadcasts()) {
            return this;
        }
        Map<Name, List<Tracker>> fewer = new LinkedHashMap<>(byPrefix);
        for (Name prefix : tracker.options().prefixes()) {
            List<Tracker> told = new ArrayList<>(fewer.getOrDefault(prefix, List.of()));
            told.remove(tracker);
            if (told.isEmpty()) {
                fewer.remove(prefix);
            } else {
                fewer.put(prefix, told);
            }
        }
        return new Broadcasts(fewer);
    }

    /** All of them, once for each of their prefixes. */
    void forEach(Consumer<Tracker> each) {
        byPrefix.values().forEach(trackers -> trackers.forEach(each));
    }

    /** Those who are told of this key, once for each of their prefixes that it has. */
    void forEachWith(byte[] key, Consumer<Tracker> told) {
        byPrefix.forEach((prefix, trackers) -> {
            if (isPrefix(prefix.bytes(), key)) {
                trackers.forEach(told);
            }
        });
    }

    /** Whether a text begins with another one. */
    static boolean isPrefix(byte[] prefix, byte[] text) {
        return prefix.length <= text.length
                && java.util.Arrays.equals(prefix, 0, prefix.length, text, 0, prefix.length);
    }
}
