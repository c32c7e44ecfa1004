package io.varve.flash.tier;

import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;
import io.varve.memory.Epochs;

/**
 * Watches the tier's files: whether they take what falls, what they take of the device, and whether the state file says whose items
 * count. Confined to the keeper, but for {@link #refuse}, {@link #accepted} and what is read.
 */
final class FilesWatch {
    private static final System.Logger LOG = System.getLogger(FilesWatch.class.getName());
    /** After a write was refused, nothing is taken for so long. */
    static final long REFUSAL_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final TierFiles files;
    private final FlashStore store;
    private final Evictor evictor;
    private final FlashTierSettings settings;
    private final LongSupplier nanoTime;
    private final Supplier<Epochs> epochs;
    private State state = State.SAVED;
    private boolean saidThatItFailed;
    /** When the files were looked at last. */
    private long lookedNanos;
    private volatile boolean failing;
    private volatile long refusedNanos;
    /** What the files were when they were looked at last: who asks does not wait for them. */
    private volatile long fileBytes;
    private volatile long deviceBytes;

    /** What the next start would take from the state file. */
    private enum State {
        /** Whose items count. */
        SAVED,
        /** That none do: there is no file. */
        FORGOTTEN,
        /** That some do which do not any more. */
        WRONG
    }

    /** @param epochs the cache's */
    FilesWatch(TierFiles files, Evictor evictor, FlashTierSettings settings, LongSupplier nanoTime,
            Supplier<Epochs> epochs) {
        this.files = files;
        this.evictor = evictor;
        this.settings = settings;
        this.nanoTime = nanoTime;
        this.epochs = epochs;
        store = files.store();
        refusedNanos = nanoTime.getAsLong() - REFUSAL_NANOS;
        lookedNanos = nanoTime.getAsLong() - LOOK_NANOS;
    }

    // --- whether they take what falls

    /** A write was refused: for a while nothing is taken. */
    void refuse() {
        refusedNanos = nanoTime.getAsLong();
        if (!failing) {
            failing = true;
            LOG.log(System.Logger.Level.WARNING, "Flash takes nothing at the moment: what falls is gone");
        }
    }

    /** A write was done. */
    void accepted() {
        if (failing) {
            failing = false;
            LOG.log(System.Logger.Level.INFO, "Flash takes again what falls");
        }
    }

    boolean isRefusing() {
        return nanoTime.getAsLong() - refusedNanos < REFUSAL_NANOS;
    }

    /** Whether the last write failed, and none was done since. */
    boolean isFailing() {
        return failing;
    }

    // --- what the state file says

    /** @throws UncheckedIOException if it could not be written */
    void save(Epochs planned) {
        files.save(planned, false);
        state = State.SAVED;
    }

    /** @return whether no start can take what is on flash for what counts */
    boolean saveOrForget(Epochs planned) {
        try {
            save(planned);
            return true;
        } catch (UncheckedIOException refused) {
            LOG.log(System.Logger.Level.WARNING, "The state file is taken away, until it can be written", refused);
        }
        try {
            files.forget();
            state = State.FORGOTTEN;
            return true;
        } catch (UncheckedIOException failed) {
            LOG.log(System.Logger.Level.ERROR,
                    "Until this can be written, a process that is killed may find old values after its next start",
                    failed);
            state = State.WRONG;
            return false;
        }
    }

    private void saveAgain() {
        try {
            save(epochs.get());
            LOG.log(System.Logger.Level.INFO, "The state file could be written again");
        } catch (UncheckedIOException refused) {
            LOG.log(System.Logger.Level.DEBUG, "The state file can still not be written", refused);
            if (state == State.WRONG) {
                forgetAgain();
            }
        }
    }

    private void forgetAgain() {
        try {
            files.forget();
            state = State.FORGOTTEN;
        } catch (UncheckedIOException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The state file can still not be taken away", failed);
        }
    }

    // --- now and then

    /** To be called several times a second. Whatever fails, it is done again the next time. */
    void look() {
        try {
            lookNow();
            saidThatItFailed = false;
        } catch (RuntimeException | Error failed) {
            LOG.log(saidThatItFailed ? System.Logger.Level.DEBUG : System.Logger.Level.ERROR,
                    "The files of the flash tier could not be looked at; it is tried again, and said once", failed);
            saidThatItFailed = true;
        }
    }

    /** Ahead of the store's own limit, so that what is below can still be brought back, which takes some room. */
    private void lookNow() {
        if (files.freeBytes() < settings.leastFreeBytes()) {
            refuse();
        }
        if (state == State.WRONG) {
            refuse();
        }
        if (state != State.SAVED) {
            saveAgain();
        }
        if (nanoTime.getAsLong() - lookedNanos < LOOK_NANOS) {
            return;
        }
        lookedNanos = nanoTime.getAsLong();
        try {
            fileBytes = files.fileBytes();
            deviceBytes = storeBytes();
            if (settings.maxBytes() > 0 && evictor.filesTake(fileBytes)) {
                refuse();
            }
        } catch (UncheckedIOException untold) {
            LOG.log(System.Logger.Level.DEBUG, "The files cannot be looked at", untold);
        }
    }

    private long storeBytes() {
        try {
            return Math.max(0, store.bytesWritten());
        } catch (StoreException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The store cannot tell what it wrote", failed);
            return 0;
        }
    }

    /** Bytes that the store's files take. */
    long fileBytes() {
        return fileBytes;
    }

    /** Bytes that the store has written. */
    long deviceBytes() {
        return deviceBytes;
    }
}
