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
import io.varve.flash.store.KeyCursor;
import io.varve.memory.Cache;

/**
 * Loads the items of waking penalty classes back into memory (pRedis, section 4): the keeper walks over all keys of the
 * store, slice by slice, one class after the other. Confined to the keeper's thread, except {@link #load} and {@link
 * #isLoading}.
 *
 * <p>Keys go to their partition queues, as requested keys do, and the walk continues when all their outcomes are known.
 * So it never runs ahead of the workers, which have little time for it while clients send requests. After each slice
 * the walk rests for a multiple of the slice's duration. On cores that workers and event loops share, the system would
 * otherwise give a loading thread as much time as a serving one. If others need the cores, a slice takes longer, and so
 * does the rest. A slice is loaded up to five times if other threads hold shards of its keys. The load ends when the
 * cache has no free memory for more.
 */
final class ClassPreload {
    private static final System.Logger LOG = System.getLogger(ClassPreload.class.getName());
    /** Few keys, so that a slice takes a few milliseconds: a request on the core may wait for as long. */
    private static final int KEYS_AT_ONCE = 32;
    /** After a slice nothing is loaded for this multiple of its duration. */
    private static final int RESTS = 3;
    private static final long MIN_PAUSE_MILLIS = 1;
    private static final long MAX_PAUSE_MILLIS = 1000;
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 100;
    private static final int MAX_FAILURES = 5;
    /** A thread that still holds a shard at the last attempt does long work: its keys stay on flash. */
    private static final int MAX_ATTEMPTS = 5;
    private static final byte[] BEGINNING = {};
    private static final int NONE = -1;

    private final Cache cache;
    private final ScheduledExecutorService keeper;
    private final Consumer<Fetch> requests;
    private final KeyCursor cursor;
    /** Classes that wait for their turn. */
    private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
    private int loaded = NONE;
    /**
     * The databases' epochs at the begin of the load: databases that were emptied since have no items here, and others
     * can wait.
     */
    private List<Long> epochs = List.of();
    /** Start of the next slice. */
    private byte[] from = BEGINNING;
    /** Number of consecutive failed slices. */
    private int failures;
    /** Number of attempts to load what begins at {@link #from}. */
    private int attempts;
    private volatile boolean isLoading;

    /** @param requests receives the requests for the keys to read */
    ClassPreload(FlashStore store, Cache cache, ScheduledExecutorService keeper, Consumer<Fetch> requests) {
        this.cache = cache;
        this.keeper = keeper;
        this.requests = requests;
        cursor = store.walk();
    }

    /** Requests a load of a class. */
    void load(int penaltyClass) {
        submit(() -> begin(penaltyClass), 0);
    }

    boolean isLoading() {
        return isLoading;
    }

    private void submit(Runnable task, long delayMillis) {
        try {
            ScheduledFuture<?> scheduled = keeper.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
            LOG.log(System.Logger.Level.TRACE, "Continues: {0}", scheduled);
        } catch (RejectedExecutionException closing) {
            LOG.log(System.Logger.Level.DEBUG, "The tier is closing", closing);
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
        attempts = 0;
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
            fetch[0] = new Fetch(loaded, () -> submit(() -> sliceFetched(fetch[0], keys),
                    restMillis(System.nanoTime() - began)));
            for (byte[] key : keys) {
                int database = ItemKey.isKey(key) ? epochs.indexOf(ItemKey.epochOf(key)) : -1;
                if (database >= 0) {
                    fetch[0].add(database, key);
                }
            }
            if (fetch[0].size() > 0) {
                requests.accept(fetch[0]);
            } else {
                submit(() -> sliceFetched(fetch[0], keys), restMillis(System.nanoTime() - began));
            }
        } catch (RuntimeException | Error failed) {
            failures++;
            boolean isOver = failures > MAX_FAILURES;
            LOG.log(System.Logger.Level.WARNING, isOver
                    ? "The load of a class from flash is cancelled: its items are promoted when clients read them"
                    : "The load of a class from flash is interrupted and continues later", failed);
            submit(isOver ? this::next : this::step, PAUSE_AFTER_FAILURE_MILLIS);
        }
    }

    /** The rest after a slice of this duration. */
    static long restMillis(long tookNanos) {
        return Math.clamp(TimeUnit.NANOSECONDS.toMillis(RESTS * tookNanos), MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS);
    }

    private List<byte[]> slice() {
        // Prefetched keys of the cursor may have been removed.
        cursor.seek(from);
        List<byte[]> keys = new ArrayList<>(KEYS_AT_ONCE);
        while (keys.size() < KEYS_AT_ONCE && cursor.next()) {
            keys.add(cursor.key());
        }
        return keys;
    }

    /** Called when all outcomes of a slice are known. */
    private void sliceFetched(Fetch fetch, List<byte[]> keys) {
        boolean isFull = false;
        boolean isContended = false;
        for (int i = 0; i < fetch.size(); i++) {
            isFull |= fetch.outcome(i) == Fetch.Outcome.NO_SPACE;
            isContended |= fetch.outcome(i) == Fetch.Outcome.CONTENDED;
        }
        attempts++;
        if (isContended && !isFull && attempts < MAX_ATTEMPTS) {
            // The keys that this attempt has loaded have left the store.
            step();
        } else if (keys.size() < KEYS_AT_ONCE || isFull) {
            next();
        } else {
            byte[] last = keys.getLast();
            // The position after the last key.
            from = Arrays.copyOf(last, last.length + 1);
            failures = 0;
            attempts = 0;
            step();
        }
    }
}
