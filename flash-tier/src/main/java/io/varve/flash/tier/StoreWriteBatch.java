package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;

/**
 * A batch of changes to the store: none is acknowledged before all of it was handed over. Confined to one thread.
 *
 * <p>A store that was reopened in between may have lost a part, so then the whole batch is repeated. Repetition is
 * harmless, since no other thread touches these keys meanwhile.
 */
final class StoreWriteBatch {
    private static final System.Logger LOG = System.getLogger(StoreWriteBatch.class.getName());
    private static final int MAX_ATTEMPTS = 4;

    private final FlashStore store;
    private final ResidencyFilter residency;
    private final DurabilityLevel durability;
    private final List<Removal> removals = new ArrayList<>();
    private final List<Write> writes = new ArrayList<>();
    /** Uncounted keys: failed writes and malformed records. */
    private final List<byte[]> doubtful = new ArrayList<>();
    private long filesOf;
    /** Whether this is a repetition. */
    private boolean again;

    /** A key to remove. */
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

        /** Whether the removal failed for lack of space: the key may still be there, and counts. */
        boolean refused() {
            return refused;
        }

        /** Whether this batch removed it. */
        boolean done() {
            return done;
        }

        /** Whether this batch removed it, and it was registered. */
        boolean uncounts() {
            return done && counted;
        }
    }

    /** A record to write. */
    static final class Write {
        private final DemotedItem demoted;
        private boolean refused;

        private Write(DemotedItem demoted) {
            this.demoted = demoted;
        }

        DemotedItem demotedItem() {
            return demoted;
        }

        /** Whether the store had no space for it, or failed. */
        boolean refused() {
            return refused;
        }
    }

    StoreWriteBatch(FlashStore store, ResidencyFilter residency, DurabilityLevel durability) {
        this.store = store;
        this.residency = residency;
        this.durability = durability;
        filesOf = store.reopened();
    }

    /**
     * Removes a key of the worker's own partition, if the store has space to record that.
     *
     * @param read whether the worker has just read it, so that it exists; else it may have been removed
     */
    Removal remove(byte[] recordKey, boolean read) {
        Removal removal = new Removal(recordKey, read);
        removals.add(removal);
        return removal;
    }

    /** Removes a malformed key. */
    void discard(byte[] recordKey) {
        doubtful.add(recordKey);
    }

    void write(DemotedItem demoted) {
        writes.add(new Write(demoted));
    }

    List<Write> writes() {
        return writes;
    }

    /**
     * Executes all changes and hands them over.
     *
     * @throws StoreException if a removal or the handover failed: keys to remove may then stay for ever
     */
    void run() {
        if (writes.isEmpty() && removals.isEmpty() && doubtful.isEmpty()) {
            return;
        }
        for (int tries = 1; tries <= MAX_ATTEMPTS; tries++) {
            long before = filesOf;
            again = tries > 1;
            try {
                writes.forEach(this::write);
                removals.forEach(this::deleteRecord);
                doubtful.forEach(this::drop);
                store.makeDurable(durability);
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
        throw new StoreException(StoreException.Kind.BROKEN, "The store was reopened too often", null);
    }

    private void drop(byte[] recordKey) {
        boolean was = store.delete(recordKey, DurabilityLevel.BUFFERED);
        if (was) {
            LOG.log(System.Logger.Level.DEBUG, "An unexpected record was present");
        }
    }

    private void write(Write write) {
        if (write.refused) {
            return;
        }
        try {
            store.put(write.demoted.recordKey(), write.demoted.record(), DurabilityLevel.BUFFERED);
        } catch (StoreException failed) {
            write.refused = true;
            if (failed.kind() != StoreException.Kind.FULL || again || store.reopened() != filesOf) {
                // It may have been written regardless, possibly by an earlier attempt.
                doubtful.add(write.demoted.recordKey());
            }
        }
    }

    private void deleteRecord(Removal removal) {
        boolean walking = !residency.isComplete();
        if (walking) {
            residency.lockWalk();
        }
        try {
            boolean counted = residency.isCounted(removal.recordKey);
            boolean was = store.delete(removal.recordKey, DurabilityLevel.BUFFERED);
            removal.refused = false;
            // A library that gave its files up during the first attempt may have removed the key, and does not find it
            // in the second one.
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
                residency.unlockWalk();
            }
        }
    }
}
