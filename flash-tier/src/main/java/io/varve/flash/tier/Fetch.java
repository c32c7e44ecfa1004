package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.varve.flash.record.ItemKey;

/**
 * Keys that may be on flash, asked for together: those that are there come back into memory. Made by one thread, which hands it
 * to {@link FlashTier#fetch} and reads the outcomes after it was told that all are known.
 */
public final class Fetch {
    /** What became of a key. */
    public enum Outcome {
        /** It is in memory again, or somebody wrote it meanwhile. */
        BROUGHT,
        /** It was not on flash at some moment after it was asked for, or is not any more: none of it can come back. */
        ABSENT,
        /** It is on flash, and memory has no room for it. */
        NO_ROOM,
        /** Nobody asked for it, and it stays on flash, if it is there: it is not of the class that is loaded, or others were in its way. */
        OTHER,
        /** Flash failed. What was on it is given up, so the database is in another epoch now, or will be. */
        UNKNOWN
    }

    /** One key. Its outcome is written by the thread that finds it out, and read after all are known. */
    static final class Wanted {
        private final int database;
        private final long epoch;
        private final long place;
        private final byte[] recordKey;
        private Outcome outcome = Outcome.UNKNOWN;

        Wanted(int database, long epoch, long place, byte[] recordKey) {
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

    private static final int ASKED = -1;

    private final List<Wanted> wanted = new ArrayList<>();
    private final AtomicInteger unknown = new AtomicInteger();
    private final Runnable whenKnown;
    /** The class that is loaded; {@link #ASKED} if somebody waits for the keys. */
    private final int loadedClass;

    /** @param whenKnown run once, by the thread that finds out the last outcome */
    public Fetch(Runnable whenKnown) {
        this(ASKED, whenKnown);
    }

    /** Of keys for which nobody waits: they come back if they are of a class, and {@link io.varve.memory.Cache#admitLoaded there is room} for them. */
    Fetch(int loadedClass, Runnable whenKnown) {
        this.loadedClass = loadedClass;
        this.whenKnown = whenKnown;
    }

    /** Whether nobody waits for the keys. */
    boolean isLoad() {
        return loadedClass != ASKED;
    }

    int loadedClass() {
        return loadedClass;
    }

    /** Adds a key of the store's. */
    void add(int database, byte[] recordKey) {
        wanted.add(new Wanted(database, ItemKey.epochOf(recordKey), ItemKey.placeOf(recordKey), recordKey));
    }

    /**
     * Asks for a key.
     *
     * @param epoch of the database at this moment
     * @param hash  as memory hashes the key
     * @param key   its bytes, which nobody changes
     */
    public void add(int database, long epoch, long hash, byte[] key) {
        long place = ItemKey.place(hash);
        wanted.add(new Wanted(database, epoch, place, ItemKey.of(place, epoch, key)));
    }

    /** How many were asked for. */
    public int size() {
        return wanted.size();
    }

    /** What became of the key that was added as this one. */
    public Outcome outcome(int index) {
        return wanted.get(index).outcome;
    }

    List<Wanted> begin() {
        unknown.set(wanted.size());
        return wanted;
    }

    void known() {
        if (unknown.decrementAndGet() == 0) {
            whenKnown.run();
        }
    }
}
