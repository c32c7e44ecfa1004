package io.varve.server.tracking;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

/**
 * Those who may have cached a key. Guarded by the lock of the part of the table that the key is in; once it was taken out of there nobody
 * changes it.
 *
 * <p>A few stand in a row. Many are found by their hash, in a table that is never more than half full, so that one more costs the same
 * however many there are.
 */
final class Readers {
    /** So many stand in a row at the most. */
    private static final int MOST_IN_ROW = 8;
    private static final int HEAP_BYTES = 24 + 16;
    private static final int PLACE_HEAP_BYTES = 8;

    private @Nullable Tracker[] places;
    private int size;

    private Readers(int places) {
        this.places = new Tracker[places];
    }

    static Readers of(Tracker tracker) {
        Readers readers = new Readers(1);
        readers.add(tracker);
        return readers;
    }

    int size() {
        return size;
    }

    /** What it takes of the heap. */
    long heapBytes() {
        return heapBytes(places.length);
    }

    /** What it takes with one more. */
    long heapBytesWithOneMore() {
        return heapBytes(placesFor(size + 1));
    }

    private static long heapBytes(int places) {
        return HEAP_BYTES + (long) PLACE_HEAP_BYTES * places;
    }

    private static int placesFor(int size) {
        int power = Integer.highestOneBit(2 * size - 1);
        return size <= MOST_IN_ROW ? power : 2 * power;
    }

    private boolean isRow() {
        return places.length <= MOST_IN_ROW;
    }

    boolean contains(Tracker tracker) {
        return isRow() ? Arrays.asList(places).contains(tracker) : places[placeOf(tracker)] != null;
    }

    /** Where it is in the table, or would be. */
    private int placeOf(Tracker tracker) {
        int mask = places.length - 1;
        int hash = tracker.hashCode();
        int place = (hash ^ hash >>> 16) & mask;
        while (places[place] != null && !tracker.equals(places[place])) {
            place = place + 1 & mask;
        }
        return place;
    }

    /** Adds one that is not there. */
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

    /** Takes out those who have ended. */
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
