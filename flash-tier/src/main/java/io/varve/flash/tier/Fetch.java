package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.flash.record.ItemKey;

/**
 * A request for several keys that may be on flash: those that are present return to memory. One thread creates it,
 * passes it to {@link FlashTier#fetch}, and reads the outcomes after the callback.
 */
public final class Fetch {
    /** The result for one key. */
    public enum Outcome {
        /** The key is in memory again: the item returned, or another client has written the key. */
        PROMOTED,
        /** The key was absent from flash at some moment after the request, or was removed: it cannot return. */
        ABSENT,
        /** The key is on flash, and memory has no space for it. */
        NO_SPACE,
        /** The key was not requested, and stays on flash: it is not of the class that is preloaded, or unreadable. */
        OTHER,
        /** The key was not requested, and stays on flash: another thread held its shard for long. */
        CONTENDED,
        /** Flash failed. Its content is invalidated, so the database is or will be in another epoch. */
        UNKNOWN
    }

    /** One key. The worker that determines its outcome writes it; readers read it after all outcomes are known. */
    static final class RequestedKey {
        private final int database;
        private final long epoch;
        private final long place;
        private final byte[] recordKey;
        private Outcome outcome = Outcome.UNKNOWN;

        RequestedKey(int database, long epoch, long place, byte[] recordKey) {
            this.database = database;
            this.epoch = epoch;
            this.place = place;
            this.recordKey = recordKey;
        }

        int database() {
            return database;
        }

        long epoch() {
            return epoch;
        }

        long place() {
            return place;
        }

        byte[] recordKey() {
            return recordKey;
        }

        long identity() {
            return ItemKey.identity(place, epoch);
        }

        void outcome(Outcome found) {
            outcome = found;
        }
    }

    private static final int REQUESTED = -1;

    private final List<RequestedKey> requestedKeys = new ArrayList<>();
    private final AtomicInteger unknown = new AtomicInteger();
    private final Runnable onComplete;
    /** The class that is preloaded; {@link #REQUESTED} if a client waits for the keys. */
    private final int loadedClass;

    /** @param onComplete run once, by the thread that determines the last outcome */
    public Fetch(Runnable onComplete) {
        this(REQUESTED, onComplete);
    }

    /**
     * Creates a request for keys to preload: they return to memory if they are of a class, and {@link
     * io.varve.memory.Cache#admitLoaded there is space} for them.
     */
    Fetch(int loadedClass, Runnable onComplete) {
        this.loadedClass = loadedClass;
        this.onComplete = onComplete;
    }

    /** Whether no client waits for the keys. */
    boolean isLoad() {
        return loadedClass != REQUESTED;
    }

    int loadedClass() {
        return loadedClass;
    }

    /** Adds a key of the store. */
    void add(int database, byte[] recordKey) {
        requestedKeys
                .add(new RequestedKey(database, ItemKey.epochOf(recordKey), ItemKey.placeOf(recordKey), recordKey));
    }

    /**
     * Adds a requested key.
     *
     * @param epoch current epoch of the database
     * @param hash the key's hash in memory
     * @param key its bytes, which must not change
     */
    public void add(int database, long epoch, long hash, byte[] key) {
        long place = ItemKey.place(hash);
        requestedKeys.add(new RequestedKey(database, epoch, place, ItemKey.of(place, epoch, key)));
    }

    /** Number of keys. */
    public int size() {
        return requestedKeys.size();
    }

    /** The outcome of the key at this index. */
    public Outcome outcome(int index) {
        return requestedKeys.get(index).outcome;
    }

    /** Whether all outcomes are known, after {@link FlashTier#fetch}. Any thread may ask. */
    boolean isComplete() {
        return unknown.get() == 0;
    }

    List<RequestedKey> begin() {
        unknown.set(requestedKeys.size());
        return requestedKeys;
    }

    void outcomeKnown() {
        if (unknown.decrementAndGet() == 0) {
            onComplete.run();
        }
    }
}
