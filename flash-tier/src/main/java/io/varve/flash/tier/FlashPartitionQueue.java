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
import io.varve.flash.tier.Fetch.Wanted;
import io.varve.flash.tier.PendingRemovals.Leaving;
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
    static final int MOST_AT_ONCE = 32;
    /** Maximum number of keys that are removed in one batch: more, since the evictors may be ahead. */
    private static final int MOST_LEAVING_AT_ONCE = 2 * MOST_AT_ONCE;
    private static final int PART_BEFORE_ASKED = 4;
    /** Maximum number of preloaded keys in one batch: a request that arrives meanwhile should not wait long. */
    private static final int MOST_LOADED_AT_ONCE = 8;
    /** Number of request batches before one preload batch. */
    private static final int ROUNDS_BEFORE_LOADS = 8;
    /** Offered items may not use the space of demoted ones, nor delay requests. */
    private static final int PART_FOR_OFFERS = PART_BEFORE_ASKED;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Map<Name, DemotedItem> falling = new LinkedHashMap<>();
    private final ArrayDeque<FetchRequest> fetches = new ArrayDeque<>();
    private final ArrayDeque<FetchRequest> loads = new ArrayDeque<>();
    private final ArrayDeque<Leaving> leaving = new ArrayDeque<>();
    private final PendingRemovals removals;
    private final long mostBytes;
    /** Items that the worker is moving: in none of queue, store and memory, or in two of them. */
    private final List<DemotedItem> carried = new ArrayList<>();
    /** Items that were moved since a scan began. */
    private final List<DemotedItem> arrived = new ArrayList<>();
    private int scans;
    private long demotingBytes;
    /** Whether the last batch served requests. */
    private boolean fetchesServed;
    /** Number of batches since the last preload batch. */
    private int roundsSinceLoads;
    private boolean closing;

    /** A requested key. */
    record FetchRequest(Fetch fetch, Wanted wanted, long sinceNanos) {}

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

        Wanted wanted() {
            return requests.getFirst().wanted();
        }

        void outcome(Fetch.Outcome found) {
            requests.forEach(asker -> asker.wanted().outcome(found));
        }
    }

    /** The next batch: requested keys, or demoted items and removals; empty at the end. Immutable. */
    record Work(List<KeyFetch> fetches, List<DemotedItem> demoted, List<Leaving> leaving) {
        boolean isEnd() {
            return fetches.isEmpty() && demoted.isEmpty() && leaving.isEmpty();
        }
    }

    /**
     * @param mostBytes maximum size of demoted items that are not written
     * @param removals pending removals of all queues
     */
    FlashPartitionQueue(long mostBytes, PendingRemovals removals) {
        this.mostBytes = mostBytes;
        this.removals = removals;
    }

    /** Whether a demoted item of this size would fit. */
    boolean hasRoom(int bytes) {
        lock.lock();
        try {
            return !closing && demotingBytes + bytes <= mostBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Whether an offered item of this size could ever be taken. */
    boolean couldSpare(int bytes) {
        return bytes <= mostBytes / PART_FOR_OFFERS;
    }

    /**
     * Whether an offered item of this size can be taken at this moment: most of the space is reserved for demoted
     * items.
     */
    boolean canSpare(int bytes) {
        lock.lock();
        try {
            return !closing && demotingBytes + bytes <= mostBytes / PART_FOR_OFFERS;
        } finally {
            lock.unlock();
        }
    }

    /** @return false if there is no space for it */
    boolean demote(DemotedItem item) {
        lock.lock();
        try {
            if (closing || demotingBytes + item.heapBytes() > mostBytes) {
                return false;
            }
            DemotedItem before = falling.put(new Name(item.recordKey()), item);
            assert before == null : "a demoted key was demoted again";
            demotingBytes += item.heapBytes();
            work.signal();
            return true;
        } finally {
            lock.unlock();
        }
    }

    void ask(Fetch fetch, Wanted wanted, long nowNanos) {
        lock.lock();
        try {
            if (!fetch.isLoad()) {
                fetches.add(new FetchRequest(fetch, wanted, nowNanos));
            } else if (!closing) {
                loads.add(new FetchRequest(fetch, wanted, nowNanos));
            }
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Queues the removal of a key, which has {@link PendingRemovals#begin begun}. */
    void leave(Leaving key) {
        lock.lock();
        try {
            leaving.add(key);
            work.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for work; the end comes when the queue is closed and empty. Called by its worker. */
    Work take() {
        lock.lock();
        try {
            putDown();
            while (fetches.isEmpty() && loads.isEmpty() && falling.isEmpty() && leaving.isEmpty() && !closing) {
                work.awaitUninterruptibly();
            }
            boolean writes = fetchesServed
                    && (demotingBytes > mostBytes / PART_BEFORE_ASKED || leaving.size() >= MOST_LEAVING_AT_ONCE);
            fetchesServed = !writes && !(fetches.isEmpty() && loads.isEmpty());
            List<KeyFetch> taken = fetchesServed ? takeFetches() : List.of();
            List<Leaving> removed = fetchesServed ? List.of() : takeLeaving();
            List<DemotedItem> demoted = new ArrayList<>();
            Iterator<DemotedItem> eldest = falling.values().iterator();
            while (!fetchesServed && eldest.hasNext() && demoted.size() < MOST_AT_ONCE) {
                DemotedItem next = eldest.next();
                demotingBytes -= next.heapBytes();
                demoted.add(next);
                eldest.remove();
            }
            carried.addAll(demoted);
            return new Work(taken, demoted, removed);
        } finally {
            lock.unlock();
        }
    }

    private List<KeyFetch> takeFetches() {
        boolean isLoad = !loads.isEmpty() && (fetches.isEmpty() || roundsSinceLoads >= ROUNDS_BEFORE_LOADS);
        roundsSinceLoads = isLoad ? 0 : Math.min(roundsSinceLoads + 1, ROUNDS_BEFORE_LOADS);
        ArrayDeque<FetchRequest> served = isLoad ? loads : fetches;
        int most = isLoad ? MOST_LOADED_AT_ONCE : MOST_AT_ONCE;
        // Each key once, however many requests there are: it returns once.
        Map<Name, KeyFetch> byName = new LinkedHashMap<>();
        for (int taken = 0; !served.isEmpty() && taken < most; taken++) {
            FetchRequest next = served.remove();
            Name name = new Name(next.wanted().recordKey());
            KeyFetch known = byName.get(name);
            if (known != null) {
                known.requests().add(next);
                continue;
            }
            // An item that is demoted while its class is preloaded was evicted: it would be evicted again, and might
            // then find no space here.
            DemotedItem demoted = isLoad ? null : falling.remove(name);
            if (demoted != null) {
                demotingBytes -= demoted.heapBytes();
                carried.add(demoted);
            }
            byName.put(name, new KeyFetch(new ArrayList<>(List.of(next)), demoted));
        }
        return List.copyOf(byName.values());
    }

    /**
     * Takes removals. If the key was demoted again after it was chosen, it had returned to memory before, and the
     * chosen record is gone.
     */
    private List<Leaving> takeLeaving() {
        List<Leaving> taken = new ArrayList<>();
        while (!leaving.isEmpty() && taken.size() < MOST_LEAVING_AT_ONCE) {
            Leaving next = leaving.remove();
            if (falling.containsKey(next.name())) {
                removals.end(next.name());
            } else {
                taken.add(next);
            }
        }
        return taken;
    }

    /** All moved items have arrived. */
    private void putDown() {
        carried.forEach(this::recordMoving);
        carried.clear();
    }

    /** Keeps a moved item visible for a running scan, without its value. */
    private void recordMoving(DemotedItem item) {
        if (scans > 0) {
            arrived.add(item.withoutValue());
        }
    }

    /** Reports that the worker has moved an item to memory: from here on it is there, or was removed from there. */
    void putDown(DemotedItem item) {
        lock.lock();
        try {
            recordMoving(item);
            carried.remove(item);
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
                arrived.clear();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Reports that the worker removes an item from the store. */
    void carry(DemotedItem item) {
        lock.lock();
        try {
            carried.add(item);
        } finally {
            lock.unlock();
        }
    }

    /** Adds all items in transit. */
    void addTo(List<DemotedItem> all) {
        lock.lock();
        try {
            all.addAll(falling.values());
            all.addAll(carried);
            all.addAll(arrived);
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
            return falling.size() + carried.size();
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
