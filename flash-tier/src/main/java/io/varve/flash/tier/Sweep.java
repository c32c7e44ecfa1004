package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.varve.flash.record.ItemKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.flash.store.KeyWalk;
import io.varve.memory.Cache;
import io.varve.memory.Epochs;

/**
 * The keeper's walk over the store's keys, some at a time: after a start it tells the holdings what is there; and whenever a database
 * was emptied it takes out what was left of it. Confined to the keeper's thread, but for {@link #begin} and {@link #whenComplete}.
 */
final class Sweep {
    private static final System.Logger LOG = System.getLogger(Sweep.class.getName());
    /** Keys under one hold of the walk's lock, and holds in one task. */
    private static final int KEYS_AT_ONCE = 16;
    private static final int HOLDS_AT_ONCE = 32;
    private static final long PAUSE_MILLIS = 1;
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 1000;

    private final FlashStore store;
    private final Cache cache;
    private final Evictor evictor;
    private final ScheduledExecutorService keeper;
    private final Supplier<Holdings> holdings;
    private final List<Runnable> waiting = new ArrayList<>();
    private boolean running;
    private boolean again;
    private KeyWalk walk;
    private Set<Long> living = Set.of();
    private long firstUnused;

    Sweep(FlashStore store, Cache cache, Evictor evictor, ScheduledExecutorService keeper,
            Supplier<Holdings> holdings) {
        this.store = store;
        this.cache = cache;
        this.evictor = evictor;
        this.keeper = keeper;
        this.holdings = holdings;
        walk = store.walk();
    }

    /** A walk over everything begins soon. */
    void begin() {
        submit(this::start, 0);
    }

    private void submit(Runnable task, long delayMillis) {
        try {
            ScheduledFuture<?> scheduled = keeper.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
            LOG.log(System.Logger.Level.TRACE, "Goes on: {0}", scheduled);
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.DEBUG, "The tier is being closed", closing);
        }
    }

    private void start() {
        if (running) {
            again = true;
            return;
        }
        running = true;
        again = false;
        walk = store.walk();
        Epochs epochs = cache.epochs();
        living = new HashSet<>(epochs.ofDatabases());
        firstUnused = epochs.next();
        step();
    }

    private void step() {
        try {
            boolean more = true;
            for (int i = 0; i < HOLDS_AT_ONCE && more; i++) {
                more = slice();
            }
            if (more) {
                submit(this::step, PAUSE_MILLIS);
                return;
            }
            running = false;
            if (again) {
                start();
            }
        } catch (RuntimeException failed) {
            LOG.log(System.Logger.Level.WARNING, "The walk over the flash tier's keys is interrupted", failed);
            submit(this::step, PAUSE_AFTER_FAILURE_MILLIS);
        }
    }

    /** @return whether there is more */
    private boolean slice() {
        Holdings current = holdings.get();
        boolean telling = !current.isComplete();
        if (telling) {
            current.lockWalk();
        }
        try {
            for (int i = 0; i < KEYS_AT_ONCE; i++) {
                if (!walk.next()) {
                    if (telling) {
                        complete(current);
                    }
                    return false;
                }
                visit(walk.key(), current, telling);
            }
            return true;
        } finally {
            if (telling) {
                current.unlockWalk();
            }
        }
    }

    private void visit(byte[] recordKey, Holdings current, boolean telling) {
        if (!ItemKey.isKey(recordKey)) {
            store.delete(recordKey, Handover.BUFFERED);
        } else if (!living.contains(ItemKey.epochOf(recordKey)) && ItemKey.epochOf(recordKey) < firstUnused) {
            boolean counted = current.isCounted(recordKey);
            if (store.delete(recordKey, Handover.BUFFERED) && counted) {
                current.left(ItemKey.placeOf(recordKey), ItemKey.epochOf(recordKey));
                evictor.removed(ItemKey.placeOf(recordKey));
            }
        } else if (telling && current.met(recordKey)) {
            evictor.inserted(ItemKey.placeOf(recordKey));
        }
    }

    private void complete(Holdings current) {
        List<Runnable> told;
        synchronized (waiting) {
            current.completed();
            told = new ArrayList<>(waiting);
            waiting.clear();
        }
        told.forEach(Runnable::run);
    }

    /** Runs it once the holdings know all that is there. */
    void whenComplete(Runnable told) {
        synchronized (waiting) {
            if (!holdings.get().isComplete()) {
                waiting.add(told);
                return;
            }
        }
        told.run();
    }
}
