package io.varve.flash.tier;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.flash.membership.CuckooFilter;
import io.varve.flash.record.ItemKey;

/**
 * A filter of the keys that are on flash or in transit to it, and their number. Many threads.
 *
 * <p>After a start the keeper walks over the store's keys once. Until that walk is complete, every key may be present.
 * Items that are demoted during the walk are recorded separately, so that the walk does not count them again.
 *
 * <p>INVARIANT, once the walk is complete: the filter holds each key as often as it is in transit or in the store.
 */
final class ResidencyFilter {
    private static final int DEMOTION_COUNTERS = 1 << 16;
    private static final int COUNTER_SHIFT = 40;
    /** Maximum number of items that may be demoted during the walk. */
    private static final int MAX_RECENT = 100_000;
    private static final byte[] BEGINNING = {};

    private final CuckooFilter members;
    private final long firstEpoch;
    private final Map<Long, AtomicLong> counts = new ConcurrentHashMap<>();
    private final AtomicIntegerArray demotions = new AtomicIntegerArray(DEMOTION_COUNTERS);
    private final ReentrantLock sweepLock = new ReentrantLock();
    private final Set<Long> recent = ConcurrentHashMap.newKeySet();
    /** The last key that the sweep has visited. Guarded by {@link #sweepLock}. */
    private byte[] walkedTo = BEGINNING;
    private volatile boolean complete;

    /**
     * @param items maximum number of items
     * @param firstEpoch items of earlier epochs are ignored
     * @param complete whether the store has no valid items
     */
    ResidencyFilter(Arena arena, long items, long firstEpoch, boolean complete) {
        members = new CuckooFilter(arena, items);
        this.firstEpoch = firstEpoch;
        this.complete = complete;
    }

    /** Whether the key may be present: false is certain under the lock of the key's shard. */
    boolean mightContain(long place, long epoch) {
        return epoch >= firstEpoch && (!complete || members.mightContain(ItemKey.identity(place, epoch)));
    }

    /** Whether it has replaced the other one. */
    boolean isAfter(ResidencyFilter other) {
        return firstEpoch > other.firstEpoch;
    }

    /** Whether items of this epoch are valid. */
    boolean counts(long epoch) {
        return epoch >= firstEpoch;
    }

    /** A counter that grows whenever this key is demoted, and occasionally otherwise. */
    int demotions(long place) {
        return demotions.get(counter(place));
    }

    private static int counter(long place) {
        return (int) (place >>> COUNTER_SHIFT) & DEMOTION_COUNTERS - 1;
    }

    /** Whether a demoted key can be registered at this moment. */
    boolean hasSpace() {
        return complete || recent.size() < MAX_RECENT;
    }

    /** Registers a demoted key. Called under the lock of its shard. */
    void addDemoted(long place, long epoch) {
        if (epoch < firstEpoch) {
            return;
        }
        long identity = ItemKey.identity(place, epoch);
        if (!complete) {
            // Before it can be in the store, so that the walk finds it registered.
            recent.add(identity);
        }
        add(identity, epoch);
    }

    /** Invalidates earlier outcomes of absence: the key can be found from here on. */
    void invalidateAbsence(long place) {
        demotions.incrementAndGet(counter(place));
    }

    private void add(long identity, long epoch) {
        members.add(identity);
        counts.computeIfAbsent(epoch, _ -> new AtomicLong()).incrementAndGet();
    }

    /** Unregisters a key. */
    void remove(long place, long epoch) {
        if (epoch < firstEpoch) {
            return;
        }
        members.remove(ItemKey.identity(place, epoch));
        AtomicLong count = counts.get(epoch);
        if (count != null) {
            count.decrementAndGet();
        }
    }

    /** Drops the counts of ended epochs. */
    void forgetEpochs(Set<Long> living, long firstUnused) {
        counts.keySet().removeIf(epoch -> epoch < firstUnused && !living.contains(epoch));
    }

    /** Number of items. */
    long count() {
        return members.count();
    }

    /** Number of items of an epoch. */
    long count(long epoch) {
        AtomicLong count = counts.get(epoch);
        return count == null ? 0 : count.get();
    }

    long ramBytes() {
        return members.ramBytes();
    }

    // --- the walk after a start

    /** Whether the walk is complete. */
    boolean isComplete() {
        return complete;
    }

    /**
     * Locks the walk: held while keys are removed from the store and while the walk reads some, until it is complete.
     */
    void lockWalk() {
        sweepLock.lock();
    }

    void unlockWalk() {
        sweepLock.unlock();
    }

    /** Whether a key that is being removed from the store is registered, and so needs {@link #remove}. */
    boolean isCounted(byte[] recordKey) {
        return complete || Arrays.compareUnsigned(recordKey, walkedTo) <= 0
                || recent.contains(identity(recordKey));
    }

    /** Registers a key that the walk has met. @return whether it is new; else it was registered already */
    boolean register(byte[] recordKey) {
        boolean old = !recent.contains(identity(recordKey));
        if (old) {
            add(identity(recordKey), ItemKey.epochOf(recordKey));
        }
        walkedTo = recordKey;
        return old;
    }

    private static long identity(byte[] recordKey) {
        return ItemKey.identity(ItemKey.placeOf(recordKey), ItemKey.epochOf(recordKey));
    }

    void markComplete() {
        complete = true;
        recent.clear();
    }
}
