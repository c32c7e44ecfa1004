package io.varve.flash.tier;

import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;
import io.varve.memory.report.Epochs;

/**
 * Monitors the tier's files: whether writes succeed, how much of the device they take, and whether the state file is
 * current. Confined to the keeper, except {@link #refuse}, {@link #accepted} and the getters.
 */
final class StoreHealth {
    private static final System.Logger LOG = System.getLogger(StoreHealth.class.getName());
    /** How long no item is accepted after a refused write. */
    static final long REFUSAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final TierFiles files;
    private final FlashStore store;
    private final Evictor evictor;
    private final FlashTierSettings settings;
    private final LongSupplier nanoTime;
    private final Supplier<Epochs> epochs;
    private State state = State.SAVED;
    private boolean failureLogged;
    /** Time of the last check of the files. */
    private long lastCheckNanos;
    private volatile boolean failing;
    private volatile long refusedNanos;
    /** Sizes at the last check, so that readers do not wait for the files. */
    private volatile long fileBytes;
    private volatile long deviceBytes;

    /** The meaning of the state file for the next start. */
    private enum State {
        /** It states the valid epochs. */
        SAVED,
        /** It does not exist: no item is valid. */
        FORGOTTEN,
        /** It states epochs that have ended. */
        WRONG
    }

    /** @param epochs the cache's epochs */
    StoreHealth(TierFiles files, Evictor evictor, FlashTierSettings settings, LongSupplier nanoTime,
            Supplier<Epochs> epochs) {
        this.files = files;
        this.evictor = evictor;
        this.settings = settings;
        this.nanoTime = nanoTime;
        this.epochs = epochs;
        store = files.store();
        refusedNanos = nanoTime.getAsLong() - REFUSAL_NANOS;
        lastCheckNanos = nanoTime.getAsLong() - CHECK_NANOS;
    }

    // --- writes

    /** Reports a refused write: for a while no item is accepted. */
    void refuse() {
        refusedNanos = nanoTime.getAsLong();
        if (!failing) {
            failing = true;
            LOG.log(System.Logger.Level.WARNING, "Flash accepts no items at the moment: evicted items are lost");
        }
    }

    /** Reports a successful write. */
    void accepted() {
        if (failing) {
            failing = false;
            LOG.log(System.Logger.Level.INFO, "Flash accepts items again");
        }
    }

    boolean isRefusing() {
        return nanoTime.getAsLong() - refusedNanos < REFUSAL_NANOS;
    }

    /** Whether the last write failed, and none has succeeded since. */
    boolean isFailing() {
        return failing;
    }

    // --- the state file

    /** @throws UncheckedIOException if it could not be written */
    void save(Epochs planned) {
        files.save(planned, false);
        state = State.SAVED;
    }

    /** @return whether no start can treat invalid items on flash as valid */
    boolean saveOrForget(Epochs planned) {
        try {
            save(planned);
            return true;
        } catch (UncheckedIOException refused) {
            LOG.log(System.Logger.Level.WARNING, "The state file cannot be written and is deleted", refused);
        }
        try {
            files.forget();
            state = State.FORGOTTEN;
            return true;
        } catch (UncheckedIOException failed) {
            LOG.log(System.Logger.Level.ERROR,
                    "Until the state file can be written, a killed process may have old values after its next start",
                    failed);
            state = State.WRONG;
            return false;
        }
    }

    private void retrySave() {
        try {
            save(epochs.get());
            LOG.log(System.Logger.Level.INFO, "The state file was written again");
        } catch (UncheckedIOException refused) {
            LOG.log(System.Logger.Level.DEBUG, "The state file still cannot be written", refused);
            if (state == State.WRONG) {
                retryForget();
            }
        }
    }

    private void retryForget() {
        try {
            files.forget();
            state = State.FORGOTTEN;
        } catch (UncheckedIOException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The state file still cannot be deleted", failed);
        }
    }

    // --- periodic check

    /** Checks the files; called several times a second. A failed step is retried by the next call. */
    void check() {
        try {
            checkNow();
            failureLogged = false;
        } catch (RuntimeException | Error failed) {
            LOG.log(failureLogged ? System.Logger.Level.DEBUG : System.Logger.Level.ERROR,
                    "The files of the flash tier could not be checked; the check is repeated, further failures are not logged",
                    failed);
            failureLogged = true;
        }
    }

    /**
     * Acts before the store reaches its own limit, so that its items can still be brought back, which takes some space.
     */
    private void checkNow() {
        if (files.freeBytes() < settings.minFreeBytes()) {
            refuse();
        }
        if (state == State.WRONG) {
            refuse();
        }
        if (state != State.SAVED) {
            retrySave();
        }
        if (nanoTime.getAsLong() - lastCheckNanos < CHECK_NANOS) {
            return;
        }
        lastCheckNanos = nanoTime.getAsLong();
        try {
            fileBytes = files.fileBytes();
            deviceBytes = storeBytes();
            if (settings.maxBytes() > 0 && evictor.updateFileBytes(fileBytes)) {
                refuse();
            }
        } catch (UncheckedIOException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The files cannot be checked", failed);
        }
    }

    private long storeBytes() {
        try {
            return Math.max(0, store.bytesWritten());
        } catch (StoreException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The store does not report its written bytes", failed);
            return 0;
        }
    }

    /** Size of the store's files in bytes. */
    long fileBytes() {
        return fileBytes;
    }

    /** Bytes that the store has written. */
    long deviceBytes() {
        return deviceBytes;
    }
}
