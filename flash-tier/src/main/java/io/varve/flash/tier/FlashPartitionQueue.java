package io.varve.flash.tier;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.flash.tier.DemotedItem.Name;
import io.varve.flash.tier.Fetch.RequestedKey;
import io.varve.flash.tier.PendingRemovals.PendingRemoval;
import org.jspecify.annotations.Nullable;

/**
 * The queue of one partition of keys: demoted items wait here to be written, requested keys to be read, and victims to
 * be removed. Guarded by its lock, which no thread holds during file access: event loops call it, some with a shard's
 * lock.
 *
 * <p>One worker serves it, and no other thread touches these keys in the store, so the steps of a key are serialized.
 *
 * <p>Requests have priority. If demoted items fill a good part of their quota, every other batch is for them; otherwise
 * constant requests would cause their loss. A requested item that is demoted but not written yet returns as it is. Keys
 * to preload, for which no client waits, are read while there are no requests, or after many batches of requests.
 */
final class FlashPartitionQueue {
    /** Maximum number of keys that are read, or records that are written, in one batch. */
    static final int MAX_BATCH = 32;
    /** Maximum number of keys that are removed in one batch: more, since the evictors may be ahead. */
    private static final int MAX_REMOVAL_BATCH = 2 * MAX_BATCH;
    private static final int FAIRNESS_QUOTA_DIVISOR = 4;
    /** Maximum number of preloaded keys in one batch: a request that arrives meanwhile should not wait long. */
    private static final int MAX_PRELOAD_BATCH = 8;
    /** Number of request batches before one preload batch. */
    private static final int ROUNDS_BEFORE_LOADS = 8;
    /** Number of batches before one task. */
    private static final int ROUNDS_BEFORE_TASKS = 4;
    /** Offered items may not use the space of demoted ones, nor delay requests. */
    private static final int OFFER_QUOTA_DIVISOR = FAIRNESS_QUOTA_DIVISOR;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Map<Name, DemotedItem> demotedItems = new LinkedHashMap<>();
    private final ArrayDeque<FetchRequest> fetches = new ArrayDeque<>();
    private final ArrayDeque<FetchRequest> loads = new ArrayDeque<>();
    private final ArrayDeque<PendingRemoval> queuedRemovals = new ArrayDeque<>();
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private final PendingRemovals removals;
    private final long maxBytes;
    /** Items that the worker is moving: in none of queue, store and memory, or in two of them. */
    private final List<DemotedItem> moving = new ArrayList<>();
    /** Items that were moved since a scan began. */
    private final List<DemotedItem> recentlyMoved = new ArrayList<>();
    private int scans;
    private long demotingBytes;
    /** Whether the last batch served requests. */
    private boolean fetchesServed;
    /** Number of batches since the last preload batch. */
    private int roundsSinceLoads;
    private int roundsSinceTasks;
    private boolean closing;

    /** A requested key. */
    record FetchRequest(Fetch fetch, RequestedKey requestedKey, long sinceNanos) {}

    /**
     * A key with all its requests, and its demoted item, if it is still queued; a preload leaves that in the queue.
     * Immutable, except the list while it is built.
     */
    record KeyFetch(List<FetchRequest> requests, @Nullable DemotedItem demoted) {
        /** Whether no client waits for it. Requests and preloads are never read together. */
        boolean isLoad() {
            return requests.getFirst().fetch().isLoad();
        }

        int loadedClass() {
            return requests.getFirst().fetch().loadedClass();
        }

        RequestedKey requestedKey() {
            return requests.getFirst().requestedKey();
        }

        void outcome(Fetch.Outcome found) {
            requests.forEach(request -> request.requestedKey().outcome(found));
        }
    }

    /** The next batch: requested keys, or demoted items and removals, or a task; empty at the end. Immutable. */
    record Work(List<KeyFetch> fetches, List<DemotedItem> demoted, List<PendingRemoval> queuedRemovals,
            @Nullable Runnable task) {
        boolean isEnd() {
            return fetches.isEmpty() && demoted.isEmpty() && queuedRemovals.isEmpty() && task == null;
        }
    }

    /**
     * @param maxBytes maximum size of demoted items that are not written
     * @param removals pending removals of all queues
     */
    FlashPartitionQueue(long maxBytes, PendingRemovals removals) {
        this.maxBytes = maxBytes;
        this.removals = removals;
    }

    /** Whether a demoted item of this size would fit. */
    boolean hasSpace(int bytes) {
        lock.lock();
        try {
            return !closing && demotingBytes + bytes <= maxBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Whether an offered item of this size could ever be taken. */
    boolean canEverAccept(int bytes) {
        return bytes <= maxBytes / OFFER_QUOTA_DIVISOR;
    }

    /**
     * Whether an offered item of this size can be taken at this moment: most of the space is reserved for demoted
     * items.
     */
    boolean canAccept(int bytes) {
        lock.lock();
        try {
            return !closing && demotingBytes + bytes <= maxBytes / OFFER_QUOTA_DIVISOR;
        } finally {
            lock.unlock();
        }
    }

    /** @return false if there is no space for it */
    boolean demote(DemotedItem item) {
        lock.lock();
        try {
            if (closing || demotingBytes + item.heapBytes() > maxBytes) {
                return false;
            }
            DemotedItem before = demotedItems.put(new Name(item.recordKey()), item);
            assert before == null : "a demoted key was demoted again";
            demotingBytes += item.heapBytes();
            work.signal();
            return true;
        } finally {
            lock.unlock();
        }
    }

    void request(Fetch fetch, RequestedKey requestedKey, long nowNanos) {
        lock.lock();
        try {
            if (!fetch.isLoad()) {
                fetches.add(new FetchRequest(fetch, requestedKey, nowNanos));
            } else if (!closing) {
                loads.add(new FetchRequest(fetch, requestedKey, nowNanos));
            }
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Queues the removal of a key, which has {@link PendingRemovals#begin begun}. */
    void queueRemoval(PendingRemoval key) {
        lock.lock();
        try {
            queuedRemovals.add(key);
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs a task on the worker's thread, between two batches.
     *
     * @return false if the queue is closed
     */
    boolean submit(Runnable task) {
        lock.lock();
        try {
            if (!closing) {
                tasks.add(task);
                work.signal();
            }
            return !closing;
        } finally {
            lock.unlock();
        }
    }

    /** The demoted items that wait to be written. Called by the worker between two batches, so none is moving. */
    List<DemotedItem> waitingItems() {
        lock.lock();
        try {
            return List.copyOf(demotedItems.values());
        } finally {
            lock.unlock();
        }
    }

    /** Waits for work; the end comes when the queue is closed and empty. Called by its worker. */
    Work take() {
        lock.lock();
        try {
            completeMove();
            while (isIdle() && tasks.isEmpty() && !closing) {
                work.awaitUninterruptibly();
            }
            if (!tasks.isEmpty() && (isIdle() || roundsSinceTasks >= ROUNDS_BEFORE_TASKS)) {
                roundsSinceTasks = 0;
                return new Work(List.of(), List.of(), List.of(), tasks.remove());
            }
            roundsSinceTasks++;
            boolean writes = fetchesServed
                    && (demotingBytes > maxBytes / FAIRNESS_QUOTA_DIVISOR
                            || queuedRemovals.size() >= MAX_REMOVAL_BATCH);
            fetchesServed = !writes && !(fetches.isEmpty() && loads.isEmpty());
            List<KeyFetch> taken = fetchesServed ? takeFetches() : List.of();
            List<PendingRemoval> removed = fetchesServed ? List.of() : takeRemovals();
            List<DemotedItem> demoted = new ArrayList<>();
            Iterator<DemotedItem> eldest = demotedItems.values().iterator();
            while (!fetchesServed && eldest.hasNext() && demoted.size() < MAX_BATCH) {
                DemotedItem next = eldest.next();
                demotingBytes -= next.heapBytes();
                demoted.add(next);
                eldest.remove();
            }
            moving.addAll(demoted);
            return new Work(taken, demoted, removed, null);
        } finally {
            lock.unlock();
        }
    }

    private boolean isIdle() {
        return fetches.isEmpty() && loads.isEmpty() && demotedItems.isEmpty() && queuedRemovals.isEmpty();
    }

    private List<KeyFetch> takeFetches() {
        boolean isLoad = !loads.isEmpty() && (fetches.isEmpty() || roundsSinceLoads >= ROUNDS_BEFORE_LOADS);
        roundsSinceLoads = isLoad ? 0 : Math.min(roundsSinceLoads + 1, ROUNDS_BEFORE_LOADS);
        ArrayDeque<FetchRequest> served = isLoad ? loads : fetches;
        int max = isLoad ? MAX_PRELOAD_BATCH : MAX_BATCH;
        // Each key once, however many requests there are: it returns once.
        Map<Name, KeyFetch> byName = new LinkedHashMap<>();
        for (int taken = 0; !served.isEmpty() && taken < max; taken++) {
            FetchRequest next = served.remove();
            Name name = new Name(next.requestedKey().recordKey());
            KeyFetch known = byName.get(name);
            if (known != null) {
                known.requests().add(next);
                continue;
            }
            // An item that is demoted while its class is preloaded was evicted: it would be evicted again, and might
            // then find no space here.
            DemotedItem demoted = isLoad ? null : demotedItems.remove(name);
            if (demoted != null) {
                demotingBytes -= demoted.heapBytes();
                moving.add(demoted);
            }
            byName.put(name, new KeyFetch(new ArrayList<>(List.of(next)), demoted));
        }
        return List.copyOf(byName.values());
    }

    /**
     * Takes removals. If the key was demoted again after it was chosen, it had returned to memory before, and the
     * chosen record was removed.
     */
    private List<PendingRemoval> takeRemovals() {
        List<PendingRemoval> taken = new ArrayList<>();
        while (!queuedRemovals.isEmpty() && taken.size() < MAX_REMOVAL_BATCH) {
            PendingRemoval next = queuedRemovals.remove();
            if (demotedItems.containsKey(next.name())) {
                removals.end(next.name());
            } else {
                taken.add(next);
            }
        }
        return taken;
    }

    /** All moved items have arrived. */
    private void completeMove() {
        moving.forEach(this::recordMoving);
        moving.clear();
    }

    /** Keeps a moved item visible for a running scan, without its value. */
    private void recordMoving(DemotedItem item) {
        if (scans > 0) {
            recentlyMoved.add(item.withoutValue());
        }
    }

    /** Reports that the worker has moved an item to memory: from here on it is there, or was removed from there. */
    void completeMove(DemotedItem item) {
        lock.lock();
        try {
            recordMoving(item);
            moving.remove(item);
        } finally {
            lock.unlock();
        }
    }

    /** Begins a scan of moving items. */
    void beginScan() {
        lock.lock();
        try {
            scans++;
        } finally {
            lock.unlock();
        }
    }

    /** Ends a scan of moving items. */
    void endScan() {
        lock.lock();
        try {
            scans--;
            if (scans == 0) {
                recentlyMoved.clear();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Reports that the worker removes an item from the store. */
    void beginMove(DemotedItem item) {
        lock.lock();
        try {
            moving.add(item);
        } finally {
            lock.unlock();
        }
    }

    /** Adds all items in transit. */
    void addTo(List<DemotedItem> all) {
        lock.lock();
        try {
            all.addAll(demotedItems.values());
            all.addAll(moving);
            all.addAll(recentlyMoved);
        } finally {
            lock.unlock();
        }
    }

    /** Accepts no more work; the queued work is still done. */
    void close() {
        lock.lock();
        try {
            closing = true;
            loads.clear();
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Number of demoted items that are not known to be written. */
    int depth() {
        lock.lock();
        try {
            return demotedItems.size() + moving.size();
        } finally {
            lock.unlock();
        }
    }

    long demotingBytes() {
        lock.lock();
        try {
            return demotingBytes;
        } finally {
            lock.unlock();
        }
    }

    int waiting() {
        lock.lock();
        try {
            return fetches.size();
        } finally {
            lock.unlock();
        }
    }
}
