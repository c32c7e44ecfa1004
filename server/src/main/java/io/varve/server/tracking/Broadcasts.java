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
 * Who is told of all keys with which prefixes. Immutable.
 *
 * <p>The prefixes are in order. All that a key has are then prefixes of the last one that does not come behind the key; each knows the
 * next shorter one that it begins with itself. So one search finds them, however many others there are.
 */
final class Broadcasts {
    static final Broadcasts NONE = new Broadcasts(new TreeMap<>());
    private static final int NOWHERE = -1;

    private final SortedMap<Name, List<Tracker>> byPrefix;
    private final Name[] prefixes;
    private final List<List<Tracker>> trackers;
    /** For each the place of the longest of the others that it begins with. */
    private final int[] shorter;
    private final int longestBytes;

    private Broadcasts(SortedMap<Name, List<Tracker>> byPrefix) {
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

    /** With one more, if it broadcasts. */
    Broadcasts with(Tracker tracker) {
        TrackingOptions options = tracker.options();
        if (!options.broadcasts()) {
            return this;
        }
        SortedMap<Name, List<Tracker>> more = new TreeMap<>(byPrefix);
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
        SortedMap<Name, List<Tracker>> fewer = new TreeMap<>(byPrefix);
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
        trackers.forEach(told -> told.forEach(each));
    }

    /** Whether anybody is told of this key. */
    boolean isTold(long keyAddress, int keyLength) {
        return prefixes.length > 0 && longestOf(Name.at(keyAddress, Math.min(keyLength, longestBytes))) != NOWHERE;
    }

    /** The places of all prefixes that a key has. */
    void forEachPlaceOf(byte[] key, IntConsumer each) {
        for (int place = longestOf(Name.of(key)); place != NOWHERE; place = shorter[place]) {
            each.accept(place);
        }
    }

    /** Those who are told of keys with the prefix at a place. */
    List<Tracker> trackersAt(int place) {
        return trackers.get(place);
    }

    /** The place of the longest prefix of a key. */
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
