package io.varve.server.tracking;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

import io.varve.memory.offheap.Memory;
import io.varve.server.pubsub.Name;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * The invalidation table: the keys that clients may have cached, by name and, as in Redis, regardless of the database.
 * Many threads: each partition has its own lock, which is last in the lock order. A key is added, and removed because
 * of a change, under its shard's lock too.
 */
final class TrackedKeys {
    private static final int PART_BITS = 8;
    /** Number of partitions: so many that the work on one of them at a time is small. */
    private static final int PARTS = 1 << PART_BITS;
    /** Spreads hashes over their upper bits: derived from the golden ratio. */
    private static final int SPREAD = 0x9E3779B9;
    /** Heap bytes of a key's entry, its share of the table, and its name, beside its bytes. */
    private static final int KEY_HEAP_BYTES = 192;
    /** A partition whose keys decrease by this factor gets a smaller table. */
    private static final int SHRINK = 4;
    /** A table for this many keys is not shrunk. */
    private static final int SMALL = 64;

    /** A partition of the keys, the oldest first. Guarded by {@code this}. */
    private static final class Part {
        private LinkedHashMap<Name, TrackingClients> byName = new LinkedHashMap<>();
        /** The largest number of keys that its table has held. */
        private int maxSize;
        /** Pairs of a key and a client that may have cached it, and the heap bytes of the partition. */
        private long items;
        private long heapBytes;
        /** Number of keys that a sweep has still to visit: they are in front. */
        private int unswept;

        void shrink() {
            if (maxSize > SMALL && byName.size() < maxSize / SHRINK) {
                byName = new LinkedHashMap<>(byName);
                maxSize = byName.size();
            }
        }
    }

    private final RequestHeapBudget memory;
    private final Part[] parts = new Part[PARTS];
    /** The sums over all partitions. */
    private final AtomicLong keys = new AtomicLong();
    private final AtomicLong items = new AtomicLong();
    private final AtomicInteger evictionHand = new AtomicInteger();
    /**
     * The partition that is being swept; none: {@link #PARTS}. Guarded by {@code this}, as is the request for another
     * sweep.
     */
    private int sweepHand = PARTS;
    private boolean sweepRequested;

    TrackedKeys(RequestHeapBudget memory) {
        this.memory = memory;
        Arrays.setAll(parts, _ -> new Part());
    }

    private Part partOf(Name name) {
        return parts[name.hashCode() * SPREAD >>> Integer.SIZE - PART_BITS];
    }

    long keyCount() {
        return keys.get();
    }

    /** Pairs of a key and a client that may have cached it. */
    long itemCount() {
        return items.get();
    }

    /** Number of keys that its tables are sized for. */
    long tableKeys() {
        long sum = 0;
        for (Part part : parts) {
            synchronized (part) {
                sum += part.maxSize;
            }
        }
        return sum;
    }

    // --- under the lock of the key's shard

    /** @return false if the budget is exhausted */
    boolean add(long address, int length, Tracker tracker) {
        Name name = Name.at(address, length);
        Part part = partOf(name);
        synchronized (part) {
            TrackingClients there = part.byName.get(name);
            if (there == null) {
                return addFirst(part, address, length, tracker);
            }
            return there.contains(tracker) || addTo(part, there, tracker);
        }
    }

    private boolean addFirst(Part part, long address, int length, Tracker tracker) {
        TrackingClients trackingClients = TrackingClients.of(tracker);
        long bytes = heapBytes(length, trackingClients);
        // Reserved before the copy: a key may have half a gigabyte.
        if (!memory.tryReservePiece(bytes)) {
            return false;
        }
        count(part, 1, 1, bytes);
        part.byName.put(Name.of(Memory.toArray(address, length)), trackingClients);
        part.maxSize = Math.max(part.maxSize, part.byName.size());
        return true;
    }

    private boolean addTo(Part part, TrackingClients trackingClients, Tracker tracker) {
        long more = trackingClients.heapBytesWithOneMore() - trackingClients.heapBytes();
        if (!memory.tryReserve(more)) {
            return false;
        }
        count(part, 0, 1, more);
        trackingClients.add(tracker);
        return true;
    }

    /** Updates the counters. */
    private void count(Part part, int moreKeys, long moreItems, long moreBytes) {
        part.items += moreItems;
        part.heapBytes += moreBytes;
        keys.addAndGet(moreKeys);
        items.addAndGet(moreItems);
    }

    /**
     * Removes a key. @return the clients that may have cached it, which no thread changes from then on; null if there
     * are none
     */
    @Nullable
    TrackingClients remove(long address, int length) {
        // Additions to the key's shard are visible: the caller holds the lock that they were made under.
        if (keys.get() == 0) {
            return null;
        }
        Name name = Name.at(address, length);
        Part part = partOf(name);
        synchronized (part) {
            TrackingClients trackingClients = part.byName.remove(name);
            if (trackingClients != null) {
                removed(part, length, trackingClients);
            }
            return trackingClients;
        }
    }

    private void removed(Part part, int length, TrackingClients trackingClients) {
        long bytes = heapBytes(length, trackingClients);
        count(part, -1, -(long) trackingClients.size(), -bytes);
        memory.release(bytes);
        part.shrink();
    }

    /** Removes all keys. Called under the locks of all shards. */
    void clear() {
        for (Part part : parts) {
            synchronized (part) {
                memory.release(part.heapBytes);
                count(part, -part.byName.size(), -part.items, -part.heapBytes);
                part.byName = new LinkedHashMap<>();
                part.maxSize = 0;
                part.unswept = 0;
            }
        }
    }

    // --- eviction

    /**
     * Evicts an old key, to limit the table.
     *
     * @param evicted receives the key and the clients that may have cached it, before other threads see its removal
     * @return false if there is none
     */
    boolean evict(BiConsumer<Name, TrackingClients> evicted) {
        for (int i = 0; i < PARTS && keys.get() > 0; i++) {
            Part part = parts[evictionHand.getAndIncrement() & PARTS - 1];
            synchronized (part) {
                Map.Entry<Name, TrackingClients> oldest = part.byName.pollFirstEntry();
                if (oldest != null) {
                    removed(part, oldest.getKey().length(), oldest.getValue());
                    evicted.accept(oldest.getKey(), oldest.getValue());
                    return true;
                }
            }
        }
        return false;
    }

    // --- ended clients

    /** Requests a sweep because a client has ended. */
    synchronized void requestSweep() {
        sweepRequested = true;
    }

    /** Continues to remove ended clients, over about this many pairs. */
    synchronized void sweep(int max) {
        if (sweepHand == PARTS && sweepRequested) {
            sweepRequested = false;
            sweepHand = 0;
            beginPart();
        }
        int left = max;
        while (sweepHand < PARTS && left > 0) {
            Part part = parts[sweepHand];
            synchronized (part) {
                left = sweep(part, left);
                if (part.unswept > 0) {
                    return;
                }
            }
            sweepHand++;
            beginPart();
        }
    }

    private void beginPart() {
        if (sweepHand < PARTS) {
            Part part = parts[sweepHand];
            synchronized (part) {
                part.unswept = part.byName.size();
            }
        }
    }

    /**
     * Moves visited keys behind the others, so that all keep their order. @return the number of pairs that may still be
     * visited
     */
    private int sweep(Part part, int max) {
        int left = max;
        while (part.unswept > 0 && left > 0) {
            Map.Entry<Name, TrackingClients> next = part.byName.pollFirstEntry();
            if (next == null) {
                part.unswept = 0;
                break;
            }
            part.unswept--;
            TrackingClients trackingClients = next.getValue();
            left -= trackingClients.size();
            removeEnded(part, trackingClients);
            if (trackingClients.size() > 0) {
                part.byName.put(next.getKey(), trackingClients);
            } else {
                removed(part, next.getKey().length(), trackingClients);
            }
        }
        return left;
    }

    private void removeEnded(Part part, TrackingClients trackingClients) {
        int size = trackingClients.size();
        long bytes = trackingClients.heapBytes();
        trackingClients.removeEnded();
        long fewerBytes = bytes - trackingClients.heapBytes();
        count(part, 0, (long) trackingClients.size() - size, -fewerBytes);
        memory.release(fewerBytes);
    }

    private static long heapBytes(int length, TrackingClients trackingClients) {
        return KEY_HEAP_BYTES + length + trackingClients.heapBytes();
    }
}
