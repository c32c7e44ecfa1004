package io.varve.server.tracking;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

import io.varve.server.pubsub.Name;

/**
 * The clients that broadcast mode notifies, by key prefix. Immutable.
 *
 * <p>The prefixes are sorted. All prefixes of a key are also prefixes of the last entry that sorts at or before the
 * key. Each entry refers to the longest shorter one that is its own prefix. So one search finds all, however many
 * others there are.
 */
final class BroadcastPrefixes {
    static final BroadcastPrefixes NONE = new BroadcastPrefixes(new TreeMap<>());
    private static final int NOWHERE = -1;

    private final SortedMap<Name, List<Tracker>> byPrefix;
    private final Name[] prefixes;
    private final List<List<Tracker>> trackers;
    /** For each prefix the index of its own longest proper prefix among the others. */
    private final int[] shorter;
    private final int longestBytes;

    private BroadcastPrefixes(SortedMap<Name, List<Tracker>> byPrefix) {
        this.byPrefix = byPrefix;
        prefixes = byPrefix.keySet().toArray(Name[]::new);
        trackers = List.copyOf(byPrefix.values());
        shorter = new int[prefixes.length];
        int longest = 0;
        for (int i = 0; i < prefixes.length; i++) {
            int place = i - 1;
            while (place != NOWHERE && !prefixes[place].isPrefixOf(prefixes[i])) {
                place = shorter[place];
            }
            shorter[i] = place;
            longest = Math.max(longest, prefixes[i].length());
        }
        longestBytes = longest;
    }

    int prefixCount() {
        return prefixes.length;
    }

    /** A copy with one more client, if it broadcasts. */
    BroadcastPrefixes with(Tracker tracker) {
        TrackingOptions options = tracker.options();
        if (!options.broadcasts()) {
            return this;
        }
        SortedMap<Name, List<Tracker>> more = new TreeMap<>(byPrefix);
        for (Name prefix : options.prefixes()) {
            List<Tracker> members = new ArrayList<>(more.getOrDefault(prefix, List.of()));
            members.add(tracker);
            more.put(prefix, members);
        }
        return new BroadcastPrefixes(more);
    }

    /** A copy without a client. */
    BroadcastPrefixes without(Tracker tracker) {
        if (!tracker.options().broadcasts()) {
            return this;
        }
        SortedMap<Name, List<Tracker>> fewer = new TreeMap<>(byPrefix);
        for (Name prefix : tracker.options().prefixes()) {
            List<Tracker> members = new ArrayList<>(fewer.getOrDefault(prefix, List.of()));
            members.remove(tracker);
            if (members.isEmpty()) {
                fewer.remove(prefix);
            } else {
                fewer.put(prefix, members);
            }
        }
        return new BroadcastPrefixes(fewer);
    }

    /** Calls back with all clients, once for each of their prefixes. */
    void forEach(Consumer<Tracker> each) {
        trackers.forEach(members -> members.forEach(each));
    }

    /** Whether any client receives invalidations of this key. */
    boolean hasSubscribers(long keyAddress, int keyLength) {
        return prefixes.length > 0 && longestOf(Name.at(keyAddress, Math.min(keyLength, longestBytes))) != NOWHERE;
    }

    /** Calls back with the indexes of all prefixes of a key. */
    void forEachPlaceOf(byte[] key, IntConsumer each) {
        for (int place = longestOf(Name.of(key)); place != NOWHERE; place = shorter[place]) {
            each.accept(place);
        }
    }

    /** The clients of the prefix at an index. */
    List<Tracker> trackersAt(int place) {
        return trackers.get(place);
    }

    /** The index of the longest prefix of a key. */
    private int longestOf(Name key) {
        int found = Arrays.binarySearch(prefixes, key);
        if (found >= 0) {
            return found;
        }
        int place = -found - 2;
        if (place != NOWHERE) {
            int common = prefixes[place].commonLength(key);
            while (place != NOWHERE && prefixes[place].length() > common) {
                place = shorter[place];
            }
        }
        return place;
    }
}
