package io.varve.server.tracking;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;

import io.varve.memory.offheap.Memory;
import io.varve.server.pubsub.Name;
import io.varve.server.resp.ArgumentMemory;
import org.jspecify.annotations.Nullable;

/**
 * Which keys are cached by whom, as far as is known: by name, whatever the database, as in Redis. Many threads: a key is added, and taken
 * out because it has changed, under the lock of its shard, in concurrent maps; what goes for room or because its clients have gone
 * is guarded by this, which is taken last.
 */
final class TrackedKeys {
    /** A key's entry, its name and its array, beside its bytes, which are there twice while it is added. */
    private static final int KEY_HEAP_BYTES = 160;
    /** A place in its array. */
    private static final int ITEM_HEAP_BYTES = 8;

    private final ArgumentMemory memory;
    private final AtomicLong charged = new AtomicLong();
    private final AtomicLong items = new AtomicLong();
    private volatile ConcurrentHashMap<Name, Tracker[]> byName = new ConcurrentHashMap<>();
    private @Nullable Iterator<Map.Entry<Name, Tracker[]>> evictionHand;
    private @Nullable Iterator<Map.Entry<Name, Tracker[]>> sweepHand;
    private boolean sweepWanted;

    TrackedKeys(ArgumentMemory memory) {
        this.memory = memory;
    }

    long keyCount() {
        return byName.mappingCount();
    }

    /** Keys times who may have cached them. */
    long itemCount() {
        return items.get();
    }

    boolean isEmpty() {
        return byName.isEmpty();
    }

    // --- under the lock of the key's shard

    /** @return false if there is no room for it */
    boolean add(long address, int length, Tracker tracker) {
        Name name = Name.at(address, length);
        Tracker[] there = byName.get(name);
        if (there != null && indexOf(there, tracker) >= 0) {
            return true;
        }
        // ORDER: counted before it is there, so that where the count is 0 there is none (remove).
        items.incrementAndGet();
        if (there != null) {
            if (!take(ITEM_HEAP_BYTES)) {
                items.decrementAndGet();
                return false;
            }
            if (byName.computeIfPresent(name, (_, before) -> with(before, tracker)) != null) {
                return true;
            }
            // It went for room meanwhile.
            give(ITEM_HEAP_BYTES);
        }
        if (!memory.takePiece(keyBytes(length) + ITEM_HEAP_BYTES)) {
            items.decrementAndGet();
            return false;
        }
        charged.addAndGet(keyBytes(length) + ITEM_HEAP_BYTES);
        Tracker[] before = byName.putIfAbsent(Name.of(Memory.toArray(address, length)), new Tracker[] {tracker});
        assert before == null : "another has added the key without its shard's lock";
        return true;
    }

    private static Tracker[] with(Tracker[] before, Tracker tracker) {
        Tracker[] after = Arrays.copyOf(before, before.length + 1);
        after[before.length] = tracker;
        return after;
    }

    private static int indexOf(Tracker[] trackers, Tracker tracker) {
        return Arrays.asList(trackers).indexOf(tracker);
    }

    /** Takes a key out. @return those who may have cached it, not to be changed; null if nobody may have */
    Tracker @Nullable [] remove(long address, int length) {
        // Not the map's own count, which is a sum of many that change while they are added up.
        return items.get() == 0 ? null : removed(length, byName.remove(Name.at(address, length)));
    }

    private Tracker @Nullable [] removed(int length, Tracker @Nullable [] trackers) {
        if (trackers != null) {
            give(keyBytes(length) + (long) ITEM_HEAP_BYTES * trackers.length);
            items.addAndGet(-(long) trackers.length);
        }
        return trackers;
    }

    /** Takes all keys out. Under the locks of all shards. */
    synchronized void clear() {
        byName = new ConcurrentHashMap<>();
        items.set(0);
        memory.give(charged.getAndSet(0));
        evictionHand = null;
        sweepHand = null;
    }

    // --- for room

    /**
     * Takes a key out that nothing is known against, the next one of a walk over all of them.
     *
     * @param evicted told of the key and of those who may have cached it
     * @return false if there is none
     */
    synchronized boolean evict(BiConsumer<Name, Tracker[]> evicted) {
        for (int rounds = 0; rounds < 2; rounds++) {
            Iterator<Map.Entry<Name, Tracker[]>> hand = evictionHand == null
                    ? byName.entrySet().iterator()
                    : evictionHand;
            while (hand.hasNext()) {
                Name name = hand.next().getKey();
                Tracker[] trackers = removed(name.length(), byName.remove(name));
                if (trackers != null) {
                    evictionHand = hand;
                    evicted.accept(name, trackers);
                    return true;
                }
            }
            evictionHand = null;
        }
        return false;
    }

    // --- who has gone

    /** Somebody has ended: who he was is to be taken out. */
    synchronized void wantSweep() {
        sweepWanted = true;
    }

    /** Goes on taking out those who have ended, over so many keys at most. */
    synchronized void sweep(int keys) {
        if (sweepHand == null && sweepWanted) {
            sweepWanted = false;
            sweepHand = byName.entrySet().iterator();
        }
        Iterator<Map.Entry<Name, Tracker[]>> hand = sweepHand;
        if (hand == null) {
            return;
        }
        for (int i = 0; i < keys && hand.hasNext(); i++) {
            Map.Entry<Name, Tracker[]> entry = hand.next();
            if (Arrays.stream(entry.getValue()).anyMatch(Tracker::isEnded)) {
                byName.computeIfPresent(entry.getKey(), this::withoutEnded);
            }
        }
        if (!hand.hasNext()) {
            sweepHand = null;
        }
    }

    private Tracker @Nullable [] withoutEnded(Name name, Tracker[] before) {
        Tracker[] after = Arrays.stream(before).filter(tracker -> !tracker.isEnded()).toArray(Tracker[]::new);
        long gone = (long) before.length - after.length;
        items.addAndGet(-gone);
        give(ITEM_HEAP_BYTES * gone + (after.length == 0 ? keyBytes(name.length()) : 0));
        return after.length == 0 ? null : after;
    }

    private boolean take(long bytes) {
        if (!memory.take(bytes)) {
            return false;
        }
        charged.addAndGet(bytes);
        return true;
    }

    private void give(long bytes) {
        charged.addAndGet(-bytes);
        memory.give(bytes);
    }

    private static long keyBytes(int length) {
        return KEY_HEAP_BYTES + 2L * length;
    }
}
