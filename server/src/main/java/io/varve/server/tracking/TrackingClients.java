package io.varve.server.tracking;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * The clients that may have cached a key. Guarded by the lock of the table's partition that holds the key; after its
 * removal from there no thread changes it.
 *
 * <p>Few clients are in a plain array. Many are in a hash table that is never more than half full, so the cost of an
 * addition does not depend on their number.
 */
final class TrackingClients {
    /** Up to this number the clients are in a plain array. */
    private static final int MAX_ARRAY_ENTRIES = 8;
    private static final int HEAP_BYTES = 24 + 16;
    private static final int PLACE_HEAP_BYTES = 8;

    private @Nullable Tracker[] places;
    private int size;

    private TrackingClients(int places) {
        this.places = new Tracker[places];
    }

    static TrackingClients of(Tracker tracker) {
        TrackingClients trackingClients = new TrackingClients(1);
        trackingClients.add(tracker);
        return trackingClients;
    }

    int size() {
        return size;
    }

    /** Heap bytes of this set. */
    long heapBytes() {
        return heapBytes(places.length);
    }

    /** Heap bytes of this set with one more client. */
    long heapBytesWithOneMore() {
        return heapBytes(placesFor(size + 1));
    }

    private static long heapBytes(int places) {
        return HEAP_BYTES + (long) PLACE_HEAP_BYTES * places;
    }

    private static int placesFor(int size) {
        int power = Integer.highestOneBit(2 * size - 1);
        return size <= MAX_ARRAY_ENTRIES ? power : 2 * power;
    }

    private boolean isRow() {
        return places.length <= MAX_ARRAY_ENTRIES;
    }

    boolean contains(Tracker tracker) {
        return isRow() ? Arrays.asList(places).contains(tracker) : places[placeOf(tracker)] != null;
    }

    /** The client's index in the table, existing or new. */
    private int placeOf(Tracker tracker) {
        int mask = places.length - 1;
        int hash = tracker.hashCode();
        int place = (hash ^ hash >>> 16) & mask;
        while (places[place] != null && !tracker.equals(places[place])) {
            place = place + 1 & mask;
        }
        return place;
    }

    /** Adds a client that is not in the set. */
    void add(Tracker tracker) {
        int needed = placesFor(size + 1);
        if (needed > places.length) {
            @Nullable
            Tracker[] before = places;
            places = new Tracker[needed];
            size = 0;
            putAll(before);
        }
        put(tracker);
    }

    private void putAll(@Nullable Tracker[] trackers) {
        for (Tracker tracker : trackers) {
            if (tracker != null) {
                put(tracker);
            }
        }
    }

    private void put(Tracker tracker) {
        places[isRow() ? size : placeOf(tracker)] = tracker;
        size++;
    }

    /** Removes ended clients. */
    void removeEnded() {
        Tracker[] left = Arrays.stream(places).filter(Objects::nonNull).map(Objects::requireNonNull)
                .filter(tracker -> !tracker.isEnded()).toArray(Tracker[]::new);
        if (left.length < size) {
            places = new Tracker[left.length == 0 ? 0 : placesFor(left.length)];
            size = 0;
            putAll(left);
        }
    }

    void forEach(Consumer<Tracker> each) {
        for (Tracker tracker : places) {
            if (tracker != null) {
                each.accept(tracker);
            }
        }
    }
}
