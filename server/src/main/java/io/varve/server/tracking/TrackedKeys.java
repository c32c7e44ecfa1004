package io.varve.server.tracking;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

import io.varve.memory.offheap.Memory;
import io.varve.server.pubsub.Name;
import io.varve.server.resp.ArgumentMemory;
import org.jspecify.annotations.Nullable;

/**
 * Which keys are cached by whom, as far as is known: by name, whatever the database, as in Redis. Many threads: it has parts, each guarded by
 * a lock of its own that is taken last; a key is added, and taken out because it has changed, under the lock of its shard too.
 */
final class TrackedKeys {
    private static final int PART_BITS = 8;
    /** So many that what is done to one of them at once is little. */
    private static final int PARTS = 1 << PART_BITS;
    /** That spreads hashes over their upper bits: of the golden ratio. */
    private static final int SPREAD = 0x9E3779B9;
    /** A key's entry with its share of its part's table, and its name, beside its bytes. */
    private static final int KEY_HEAP_BYTES = 192;
    /** A part whose keys become fewer by this factor gets a smaller table. */
    private static final int SHRINK = 4;
    /** A table for so many stays as it is. */
    private static final int SMALL = 64;

    /** Some of the keys, the oldest first. Guarded by this. */
    private static final class Part {
        private LinkedHashMap<Name, Readers> byName = new LinkedHashMap<>();
        /** How many its table has held. */
        private int most;
        /** Keys times who may have cached them, and what all that takes of the heap. */
        private long items;
        private long heapBytes;
        /** How many a sweep has still to look at: they are in front. */
        private int unswept;

        void shrink() {
            if (most > SMALL && byName.size() < most / SHRINK) {
                byName = new LinkedHashMap<>(byName);
                most = byName.size();
            }
        }
    }

    private final ArgumentMemory memory;
    private final Part[] parts = new Part[PARTS];
    /** The sums over all parts. */
    private final AtomicLong keys = new AtomicLong();
    private final AtomicLong items = new AtomicLong();
    private final AtomicInteger evictionHand = new AtomicInteger();
    /** The part that is swept; none: {@link #PARTS}. Guarded by this, as is whether they are to be swept once more. */
    private int sweepHand = PARTS;
    private boolean sweepWanted;

    TrackedKeys(ArgumentMemory memory) {
        this.memory = memory;
        Arrays.setAll(parts, _ -> new Part());
    }

    private Part partOf(Name name) {
        return parts[name.hashCode() * SPREAD >>> Integer.SIZE - PART_BITS];
    }

    long keyCount() {
        return keys.get();
    }

    /** Keys times who may have cached them. */
    long itemCount() {
        return items.get();
    }

    /** How many keys its tables have been made for. */
    long tableKeys() {
        long sum = 0;
        for (Part part : parts) {
            synchronized (part) {
                sum += part.most;
            }
        }
        return sum;
    }

    // --- under the lock of the key's shard

    /** @return false if there is no room for it */
    boolean add(long address, int length, Tracker tracker) {
        Name name = Name.at(address, length);
        Part part = partOf(name);
        synchronized (part) {
            Readers there = part.byName.get(name);
            if (there == null) {
                return addFirst(part, address, length, tracker);
            }
            return there.contains(tracker) || addTo(part, there, tracker);
        }
    }

    private boolean addFirst(Part part, long address, int length, Tracker tracker) {
        Readers readers = Readers.of(tracker);
        long bytes = heapBytes(length, readers);
        // Before it is copied: a key may have half a gigabyte.
        if (!memory.takePiece(bytes)) {
            return false;
        }
        count(part, 1, 1, bytes);
        part.byName.put(Name.of(Memory.toArray(address, length)), readers);
        part.most = Math.max(part.most, part.byName.size());
        return true;
    }

    private boolean addTo(Part part, Readers readers, Tracker tracker) {
        long more = readers.heapBytesWithOneMore() - readers.heapBytes();
        if (!memory.take(more)) {
            return false;
        }
        count(part, 0, 1, more);
        readers.add(tracker);
        return true;
    }

    /** So many come, or go. */
    private void count(Part part, int moreKeys, long moreItems, long moreBytes) {
        part.items += moreItems;
        part.heapBytes += moreBytes;
        keys.addAndGet(moreKeys);
        items.addAndGet(moreItems);
    }

    /** Takes a key out. @return those who may have cached it, whom nobody changes any more; null if nobody may have */
    @Nullable
    Readers remove(long address, int length) {
        // What was added to the key's shard is counted: the lock that the caller has was had by who did it.
        if (keys.get() == 0) {
            return null;
        }
        Name name = Name.at(address, length);
        Part part = partOf(name);
        synchronized (part) {
            Readers readers = part.byName.remove(name);
            if (readers != null) {
                removed(part, length, readers);
            }
            return readers;
        }
    }

    private void removed(Part part, int length, Readers readers) {
        long bytes = heapBytes(length, readers);
        count(part, -1, -(long) readers.size(), -bytes);
        memory.give(bytes);
        part.shrink();
    }

    /** Takes all keys out. Under the locks of all shards. */
    void clear() {
        for (Part part : parts) {
            synchronized (part) {
                memory.give(part.heapBytes);
                count(part, -part.byName.size(), -part.items, -part.heapBytes);
                part.byName = new LinkedHashMap<>();
                part.most = 0;
                part.unswept = 0;
            }
        }
    }

    // --- for room

    /**
     * Takes a key out that nothing is known against: one that has been there for long.
     *
     * @param evicted told of the key and of those who may have cached it, before anybody finds that it has gone
     * @return false if there is none
     */
    boolean evict(BiConsumer<Name, Readers> evicted) {
        for (int i = 0; i < PARTS && keys.get() > 0; i++) {
            Part part = parts[evictionHand.getAndIncrement() & PARTS - 1];
            synchronized (part) {
                Map.Entry<Name, Readers> oldest = part.byName.pollFirstEntry();
                if (oldest != null) {
                    removed(part, oldest.getKey().length(), oldest.getValue());
                    evicted.accept(oldest.getKey(), oldest.getValue());
                    return true;
                }
            }
        }
        return false;
    }

    // --- who has gone

    /** Somebody has ended: who he was is to be taken out. */
    synchronized void wantSweep() {
        sweepWanted = true;
    }

    /** Goes on taking out those who have ended, over about so many who may have cached something. */
    synchronized void sweep(int most) {
        if (sweepHand == PARTS && sweepWanted) {
            sweepWanted = false;
            sweepHand = 0;
            beginPart();
        }
        int left = most;
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

    /** Those that were looked at go behind the others, so that all keep their order. @return how many more may be looked at */
    private int sweep(Part part, int most) {
        int left = most;
        while (part.unswept > 0 && left > 0) {
            Map.Entry<Name, Readers> next = part.byName.pollFirstEntry();
            if (next == null) {
                part.unswept = 0;
                break;
            }
            part.unswept--;
            Readers readers = next.getValue();
            left -= readers.size();
            removeEnded(part, readers);
            if (readers.size() > 0) {
                part.byName.put(next.getKey(), readers);
            } else {
                removed(part, next.getKey().length(), readers);
            }
        }
        return left;
    }

    private void removeEnded(Part part, Readers readers) {
        int size = readers.size();
        long bytes = readers.heapBytes();
        readers.removeEnded();
        long fewerBytes = bytes - readers.heapBytes();
        count(part, 0, (long) readers.size() - size, -fewerBytes);
        memory.give(fewerBytes);
    }

    private static long heapBytes(int length, Readers readers) {
        return KEY_HEAP_BYTES + length + readers.heapBytes();
    }
}
