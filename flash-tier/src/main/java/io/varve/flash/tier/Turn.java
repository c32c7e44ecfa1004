package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;

import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.flash.store.StoreException;

/**
 * What a lane changes in the store at once: nobody is told of it before all of it was handed over. Confined to one thread.
 *
 * <p>A store whose files were opened anew in between may have lost a part, so then everything is done again; doing it twice
 * changes nothing, for nobody else touches these keys meanwhile.
 */
final class Turn {
    private static final System.Logger LOG = System.getLogger(Turn.class.getName());
    private static final int MOST_TRIES = 4;

    private final FlashStore store;
    private final Holdings holdings;
    private final Handover handover;
    private final List<Removal> removals = new ArrayList<>();
    private final List<Write> writes = new ArrayList<>();
    /** Keys that were never counted: those of writes that failed, and what is none. */
    private final List<byte[]> doubtful = new ArrayList<>();
    private long filesOf;
    /** Whether it is not the first time that all is done. */
    private boolean again;

    /** A key that is taken out. */
    static final class Removal {
        private final byte[] recordKey;
        private final boolean read;
        private boolean counted;
        private boolean done;
        private boolean refused;

        private Removal(byte[] recordKey, boolean read) {
            this.recordKey = recordKey;
            this.read = read;
        }

        byte[] recordKey() {
            return recordKey;
        }

        /** Whether it could not be taken out for want of room: it may still be there, and counts. */
        boolean refused() {
            return refused;
        }

        /** Whether it was this turn that took it out. */
        boolean done() {
            return done;
        }

        /** Whether it was this turn that took it out, and it had been counted. */
        boolean uncounts() {
            return done && counted;
        }
    }

    /** A record that is written. */
    static final class Write {
        private final Fallen fallen;
        private boolean refused;

        private Write(Fallen fallen) {
            this.fallen = fallen;
        }

        Fallen fallen() {
            return fallen;
        }

        /** Whether the store had no room for it, or failed. */
        boolean refused() {
            return refused;
        }
    }

    Turn(FlashStore store, Holdings holdings, Handover handover) {
        this.store = store;
        this.holdings = holdings;
        this.handover = handover;
        filesOf = store.reopened();
    }

    /**
     * Takes a key of the lane's own out, if the store has room for saying so.
     *
     * @param read whether the lane has just read it: then it is there, else it may not be any more
     */
    Removal remove(byte[] recordKey, boolean read) {
        Removal removal = new Removal(recordKey, read);
        removals.add(removal);
        return removal;
    }

    /** Takes out what is no item's key. */
    void discard(byte[] recordKey) {
        doubtful.add(recordKey);
    }

    void write(Fallen fallen) {
        writes.add(new Write(fallen));
    }

    List<Write> writes() {
        return writes;
    }

    /**
     * Does it all and hands it over.
     *
     * @throws StoreException if something could not be taken out, or not be handed over: what was to go may be there for ever
     */
    void run() {
        if (writes.isEmpty() && removals.isEmpty() && doubtful.isEmpty()) {
            return;
        }
        for (int tries = 1; tries <= MOST_TRIES; tries++) {
            long before = filesOf;
            again = tries > 1;
            try {
                writes.forEach(this::write);
                removals.forEach(this::takeOut);
                doubtful.forEach(this::drop);
                store.handOver(handover);
            } catch (StoreException failed) {
                if (store.reopened() == before) {
                    throw failed;
                }
            }
            filesOf = store.reopened();
            if (filesOf == before) {
                return;
            }
        }
        throw new StoreException(StoreException.Kind.BROKEN, "The store is opened anew again and again", null);
    }

    private void drop(byte[] recordKey) {
        boolean was = store.delete(recordKey, Handover.BUFFERED);
        if (was) {
            LOG.log(System.Logger.Level.DEBUG, "A record was there that should not have been");
        }
    }

    private void write(Write write) {
        if (write.refused) {
            return;
        }
        try {
            store.put(write.fallen.recordKey(), write.fallen.record(), Handover.BUFFERED);
        } catch (StoreException failed) {
            write.refused = true;
            if (failed.kind() != StoreException.Kind.FULL || again || store.reopened() != filesOf) {
                // It may be there all the same, be it from the time before.
                doubtful.add(write.fallen.recordKey());
            }
        }
    }

    private void takeOut(Removal removal) {
        boolean walking = !holdings.isComplete();
        if (walking) {
            holdings.lockWalk();
        }
        try {
            boolean counted = holdings.isCounted(removal.recordKey);
            boolean was = store.delete(removal.recordKey, Handover.BUFFERED);
            removal.refused = false;
            // A library that gave its files up in the middle of it may have taken it out, and does not find it the second time.
            if (was || removal.read && !removal.done) {
                removal.done = true;
                removal.counted = counted;
            }
        } catch (StoreException refused) {
            if (refused.kind() != StoreException.Kind.FULL) {
                throw refused;
            }
            removal.refused = true;
        } finally {
            if (walking) {
                holdings.unlockWalk();
            }
        }
    }
}
