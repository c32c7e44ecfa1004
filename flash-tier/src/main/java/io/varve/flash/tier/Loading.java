package io.varve.flash.tier;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.varve.flash.record.ItemKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyWalk;
import io.varve.memory.Cache;

/**
 * Brings the items of classes that wake back to memory (pRedis, section 4): the keeper's walk over the store's keys from its beginning to its end, some at a time,
 * one class after the other. Confined to the keeper's thread, but for {@link #load} and {@link #isLoading}.
 *
 * <p>Keys are handed to their lanes, as those that are asked for are, and the walk goes on when all of them are known. So it is never ahead of the lanes, whose
 * threads have little time for it while clients ask. And it rests after each slice for some times as long as that took: where lanes and event loops share cores, the system
 * gives a thread that loads as much of them as one that serves. A slice takes longer where others need the cores, and so the rest does. It ends where the cache has no room for more.
 */
final class Loading {
    private static final System.Logger LOG = System.getLogger(Loading.class.getName());
    /** Few, so that a slice takes a few milliseconds: as long may somebody wait who is served by the same core. */
    private static final int KEYS_AT_ONCE = 32;
    /** For so many times as long as a slice took nothing is loaded. */
    private static final int RESTS = 3;
    private static final long LEAST_REST_MILLIS = 1;
    private static final long MOST_REST_MILLIS = 1000;
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 100;
    private static final int MOST_FAILURES = 5;
    private static final byte[] BEGINNING = {};
    private static final int NONE = -1;

    private final Cache cache;
    private final ScheduledExecutorService keeper;
    private final Consumer<Fetch> lanes;
    private final KeyWalk walk;
    /** Classes whose turn has not come yet. */
    private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
    private int loaded = NONE;
    /** Of the databases, when its load began: those that were emptied since have nothing here, and others can wait. */
    private List<Long> epochs = List.of();
    /** Where the next slice begins. */
    private byte[] from = BEGINNING;
    /** Slices that failed, one after the other. */
    private int failures;
    private volatile boolean isLoading;

    /** @param lanes have keys looked at */
    Loading(FlashStore store, Cache cache, ScheduledExecutorService keeper, Consumer<Fetch> lanes) {
        this.cache = cache;
        this.keeper = keeper;
        this.lanes = lanes;
        walk = store.walk();
    }

    /** A class is to come back. */
    void load(int penaltyClass) {
        submit(() -> begin(penaltyClass), 0);
    }

    boolean isLoading() {
        return isLoading;
    }

    private void submit(Runnable task, long delayMillis) {
        try {
            ScheduledFuture<?> scheduled = keeper.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
            LOG.log(System.Logger.Level.TRACE, "Goes on: {0}", scheduled);
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.DEBUG, "The tier is being closed", closing);
        }
    }

    private void begin(int penaltyClass) {
        if (!waiting.contains(penaltyClass)) {
            waiting.add(penaltyClass);
        }
        if (loaded == NONE) {
            next();
        }
    }

    private void next() {
        isLoading = !waiting.isEmpty();
        loaded = isLoading ? waiting.remove() : NONE;
        from = BEGINNING;
        failures = 0;
        if (isLoading) {
            epochs = cache.epochs().ofDatabases();
            step();
        }
    }

    private void step() {
        try {
            long began = System.nanoTime();
            List<byte[]> keys = slice();
            Fetch[] fetch = new Fetch[1];
            fetch[0] = new Fetch(loaded, () -> submit(() -> known(fetch[0], keys),
                    restMillis(System.nanoTime() - began)));
            for (byte[] key : keys) {
                int database = ItemKey.isKey(key) ? epochs.indexOf(ItemKey.epochOf(key)) : -1;
                if (database >= 0) {
                    fetch[0].add(database, key);
                }
            }
            if (fetch[0].size() > 0) {
                lanes.accept(fetch[0]);
            } else {
                submit(() -> known(fetch[0], keys), restMillis(System.nanoTime() - began));
            }
        } catch (RuntimeException | Error failed) {
            failures++;
            boolean isOver = failures > MOST_FAILURES;
            LOG.log(System.Logger.Level.WARNING, isOver
                    ? "The load of a class from flash is given up: its items come back when they are asked for"
                    : "The load of a class from flash is interrupted, and goes on", failed);
            submit(isOver ? this::next : this::step, PAUSE_AFTER_FAILURE_MILLIS);
        }
    }

    /** How long to rest after a slice that took so long. */
    static long restMillis(long tookNanos) {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(RESTS * tookNanos), LEAST_REST_MILLIS, MOST_REST_MILLIS);
    }

    private List<byte[]> slice() {
        // What the walk read ahead before may be gone.
        walk.seek(from);
        List<byte[]> keys = new ArrayList<>(KEYS_AT_ONCE);
        while (keys.size() < KEYS_AT_ONCE && walk.next()) {
            keys.add(walk.key());
        }
        return keys;
    }

    /** All keys of a slice are where they belong. */
    private void known(Fetch fetch, List<byte[]> keys) {
        boolean isFull = false;
        for (int i = 0; i < fetch.size(); i++) {
            isFull |= fetch.outcome(i) == Fetch.Outcome.NO_ROOM;
        }
        if (keys.size() < KEYS_AT_ONCE || isFull) {
            next();
        } else {
            byte[] last = keys.getLast();
            // Right behind the last key.
            from = Arrays.copyOf(last, last.length + 1);
            failures = 0;
            step();
        }
    }
}
