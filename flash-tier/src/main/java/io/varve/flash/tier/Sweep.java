package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.varve.flash.record.ItemKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import io.varve.memory.Cache;
import io.varve.memory.report.Epochs;

/**
 * The keeper's walk over the store's keys, slice by slice. Confined to the keeper's thread, except {@link #begin} and
 * {@link #whenComplete}. After a start it registers all keys in the residency filter. After a flush of a database it
 * passes the database's old keys to the partition queues, which remove them.
 */
final class Sweep {
    private static final System.Logger LOG = System.getLogger(Sweep.class.getName());
    /** Number of keys under one hold of the walk's lock, and of holds in one task. */
    private static final int KEYS_AT_ONCE = 16;
    private static final int HOLDS_AT_ONCE = 32;
    private static final long PAUSE_MILLIS = 1;
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 1000;

    private static final byte[] BEGINNING = {};

    private final Cache cache;
    private final Evictor evictor;
    private final ScheduledExecutorService keeper;
    private final Supplier<ResidencyFilter> residency;
    private final Supplier<StoreWriteBatch> writeBatches;
    private final PendingRemovals removals;
    private final Consumer<byte[]> remove;
    private final KeyCursor cursor;
    private final List<Runnable> waiting = new ArrayList<>();
    private boolean running;
    private boolean again;
    /** Start of the next slice. */
    private byte[] from = BEGINNING;
    private Set<Long> living = Set.of();
    private long firstUnused;

    /** @param remove passes a key to its queue, whose worker removes it */
    Sweep(FlashStore store, Cache cache, Evictor evictor, ScheduledExecutorService keeper,
            Supplier<ResidencyFilter> residency,
            Supplier<StoreWriteBatch> writeBatches, PendingRemovals removals, Consumer<byte[]> remove) {
        this.cache = cache;
        this.evictor = evictor;
        this.keeper = keeper;
        this.residency = residency;
        this.writeBatches = writeBatches;
        this.removals = removals;
        this.remove = remove;
        cursor = store.walk();
    }

    /** Schedules a walk over all keys. */
    void begin() {
        submit(this::start, 0);
    }

    private void submit(Runnable task, long delayMillis) {
        try {
            ScheduledFuture<?> scheduled = keeper.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
            LOG.log(System.Logger.Level.TRACE, "Continues: {0}", scheduled);
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.DEBUG, "The tier is closing", closing);
        }
    }

    private void start() {
        if (running) {
            again = true;
            return;
        }
        again = false;
        from = BEGINNING;
        Epochs epochs = cache.epochs();
        living = new HashSet<>(epochs.ofDatabases());
        firstUnused = epochs.next();
        running = true;
        step();
    }

    private void step() {
        try {
            boolean more = true;
            for (int i = 0; i < HOLDS_AT_ONCE && more && !removals.isNearLimit(); i++) {
                more = slice();
            }
            if (more) {
                submit(this::step, PAUSE_MILLIS);
                return;
            }
            running = false;
            residency.get().forgetEpochs(living, firstUnused);
            if (again) {
                start();
            }
        } catch (RuntimeException | Error failed) {
            LOG.log(System.Logger.Level.WARNING, "The sweep over the keys of the flash tier is interrupted", failed);
            submit(this::step, PAUSE_AFTER_FAILURE_MILLIS);
        }
    }

    /**
     * Processes the keys of one hold of the walk's lock. Keys are registered, or passed on for removal, after the last
     * step that can fail: a failed slice is repeated from its beginning.
     *
     * @return whether there is more
     */
    private boolean slice() {
        ResidencyFilter current = residency.get();
        boolean completing = !current.isComplete();
        List<byte[]> fresh = new ArrayList<>();
        List<byte[]> dead = new ArrayList<>();
        List<Runnable> callbacks = List.of();
        boolean more;
        if (completing) {
            current.lockWalk();
        }
        try {
            more = slice(current, completing, fresh, dead);
            if (completing && !more) {
                callbacks = complete(current);
            }
        } finally {
            if (completing) {
                current.unlockWalk();
            }
        }
        // Without the lock, as they may wait for shards, whose holder may wait for a worker.
        callbacks.forEach(Runnable::run);
        for (byte[] recordKey : fresh) {
            evictor.inserted(ItemKey.placeOf(recordKey));
        }
        dead.forEach(remove);
        return more;
    }

    private boolean slice(ResidencyFilter current, boolean completing, List<byte[]> fresh, List<byte[]> dead) {
        // Prefetched keys of the cursor may have been removed.
        cursor.seek(from);
        StoreWriteBatch writeBatch = writeBatches.get();
        List<byte[]> met = new ArrayList<>();
        boolean more = true;
        byte[] last = from;
        for (int i = 0; i < KEYS_AT_ONCE && more; i++) {
            more = cursor.next();
            if (more) {
                last = cursor.key();
                if (ItemKey.isKey(last)) {
                    met.add(last);
                } else {
                    writeBatch.discard(last);
                }
            }
        }
        writeBatch.run();
        for (byte[] recordKey : met) {
            // A key to remove is registered too, until its worker reports its removal.
            boolean isFresh = completing && current.register(recordKey);
            if (isDead(recordKey)) {
                dead.add(recordKey);
            } else if (isFresh) {
                fresh.add(recordKey);
            }
        }
        // The position after the last key.
        from = more ? Arrays.copyOf(last, last.length + 1) : BEGINNING;
        return more;
    }

    private boolean isDead(byte[] recordKey) {
        long epoch = ItemKey.epochOf(recordKey);
        return !living.contains(epoch) && epoch < firstUnused;
    }

    /** @return the callbacks that have waited for it */
    private List<Runnable> complete(ResidencyFilter current) {
        synchronized (waiting) {
            current.markComplete();
            return takeWaiting();
        }
    }

    /** Completes the waiting callbacks, because a complete filter has replaced the old one. */
    void nothingIsUnknown() {
        List<Runnable> callbacks;
        synchronized (waiting) {
            callbacks = takeWaiting();
        }
        callbacks.forEach(Runnable::run);
    }

    private List<Runnable> takeWaiting() {
        List<Runnable> callbacks = new ArrayList<>(waiting);
        waiting.clear();
        return callbacks;
    }

    /** Runs a callback once the filter knows all keys. */
    void whenComplete(Runnable callback) {
        synchronized (waiting) {
            if (!residency.get().isComplete()) {
                waiting.add(callback);
                return;
            }
        }
        callback.run();
    }
}
