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
 * What is on flash, or falling, as far as memory knows: which keys may be, and how many there are. Many threads.
 *
 * <p>After a start the store's keys are walked over once. Until that is done every key may be there; what falls meanwhile is noted
 * apart, so that the walk does not count it again.
 *
 * <p>INVARIANT, once the walk is done: each key that is falling or in the store is in the filter as often as that.
 */
final class Holdings {
    private static final int FALL_COUNTERS = 1 << 16;
    private static final int FALL_SHIFT = 40;
    /** What may fall while the walk goes on. */
    private static final int MOST_RECENT = 100_000;
    private static final byte[] BEGINNING = {};

    private final CuckooFilter members;
    private final long firstEpoch;
    private final Map<Long, AtomicLong> counts = new ConcurrentHashMap<>();
    private final AtomicIntegerArray falls = new AtomicIntegerArray(FALL_COUNTERS);
    private final ReentrantLock walking = new ReentrantLock();
    private final Set<Long> recent = ConcurrentHashMap.newKeySet();
    /** How far the walk has come. Guarded by {@link #walking}. */
    private byte[] walkedTo = BEGINNING;
    private volatile boolean complete;

    /**
     * @param items      that are held at the most
     * @param firstEpoch what is of an earlier epoch is none of its
     * @param complete   whether the store has nothing that counts
     */
    Holdings(Arena arena, long items, long firstEpoch, boolean complete) {
        members = new CuckooFilter(arena, items);
        this.firstEpoch = firstEpoch;
        this.complete = complete;
    }

    /** Whether the key may be there: false is sure, for whoever holds the lock of the key's shard. */
    boolean mightHold(long place, long epoch) {
        return epoch >= firstEpoch && (!complete || members.mightContain(ItemKey.identity(place, epoch)));
    }

    /** Whether it has taken the place of the other. */
    boolean isAfter(Holdings other) {
        return firstEpoch > other.firstEpoch;
    }

    /** Whether what is of this epoch is any of its. */
    boolean counts(long epoch) {
        return epoch >= firstEpoch;
    }

    /** A count that grows whenever this key falls, and now and then besides. */
    int falls(long place) {
        return falls.get(counter(place));
    }

    private static int counter(long place) {
        return (int) (place >>> FALL_SHIFT) & FALL_COUNTERS - 1;
    }

    /** Whether a key that falls could be noted now. */
    boolean hasRoom() {
        return complete || recent.size() < MOST_RECENT;
    }

    /** A key falls: under the lock of its shard. */
    void fell(long place, long epoch) {
        if (epoch < firstEpoch) {
            return;
        }
        long identity = ItemKey.identity(place, epoch);
        if (!complete) {
            // Before it can be in the store, so that the walk finds it noted when it meets it.
            recent.add(identity);
        }
        add(identity, epoch);
    }

    /** Who was told that the key was absent is to ask again: it can be found now. */
    void canBeFound(long place) {
        falls.incrementAndGet(counter(place));
    }

    private void add(long identity, long epoch) {
        members.add(identity);
        counts.computeIfAbsent(epoch, _ -> new AtomicLong()).incrementAndGet();
    }

    /** A key that was counted is not there any more. */
    void left(long place, long epoch) {
        if (epoch < firstEpoch) {
            return;
        }
        members.remove(ItemKey.identity(place, epoch));
        AtomicLong count = counts.get(epoch);
        if (count != null) {
            count.decrementAndGet();
        }
    }

    /** Nothing is left of other epochs before this one than the living. */
    void forgetEpochs(Set<Long> living, long firstUnused) {
        counts.keySet().removeIf(epoch -> epoch < firstUnused && !living.contains(epoch));
    }

    /** How many items there are. */
    long count() {
        return members.count();
    }

    /** How many items of an epoch there are. */
    long count(long epoch) {
        AtomicLong count = counts.get(epoch);
        return count == null ? 0 : count.get();
    }

    long ramBytes() {
        return members.ramBytes();
    }

    // --- the walk after a start

    /** Whether the walk is done. */
    boolean isComplete() {
        return complete;
    }

    /** Held while keys are taken out of the store and while the walk reads some, until it is done. */
    void lockWalk() {
        walking.lock();
    }

    void unlockWalk() {
        walking.unlock();
    }

    /** Whether a key that is being taken out of the store has been counted, and so is to be said to have {@link #left}. */
    boolean isCounted(byte[] recordKey) {
        return complete || Arrays.compareUnsigned(recordKey, walkedTo) <= 0
                || recent.contains(identity(recordKey));
    }

    /** The walk has met a key. @return whether it is counted from now on; else it was already */
    boolean met(byte[] recordKey) {
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

    void completed() {
        complete = true;
        recent.clear();
    }
}
