package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.flash.policy.ClockHand;
import io.varve.flash.policy.ReplacementPolicy;
import io.varve.flash.record.ItemKey;
import io.varve.flash.record.RecordKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the victims when flash holds more than it may: the policy, and its hand over the store's keys. Guarded by its
 * own lock, except {@link #hit}.
 */
final class Evictor {
    /** Maximum number of keys that a search visits. */
    private static final int MAX_STEPS = 1000;
    /** Maximum number of victims chosen at once. */
    private static final int MAX_VICTIMS = 64;
    /** At most half of the store's files is live, so that they can be cleaned. */
    private static final int FILES_PER_LIVE = 2;
    /** Number of records before their mean size is used. */
    private static final int MIN_SAMPLE = 1000;
    /** From nine tenths of the files' maximum size on, this fraction of the items is evicted. */
    private static final int TEN = 10;
    private static final int NINE = 9;
    private static final int PART_WHEN_FULL = 16;

    private final FlashStore store;
    private final ReplacementPolicy policy;
    private final FlashTierSettings settings;
    private final PendingRemovals removals;
    private final ReentrantLock lock = new ReentrantLock();
    private final Hand hand;
    private final KeyCursor finder;
    private final AtomicLong recordsWritten = new AtomicLong();
    private final AtomicLong bytesWritten = new AtomicLong();
    private volatile boolean filesFull;

    Evictor(FlashStore store, ReplacementPolicy policy, FlashTierSettings settings, PendingRemovals removals) {
        this.store = store;
        this.policy = policy;
        this.settings = settings;
        this.removals = removals;
        hand = new Hand(store.walk());
        finder = store.walk();
    }

    /**
     * Reports a requested key, which leaves flash: if it is demoted again, the policy's memory of it may keep it
     * longer.
     */
    void hit(long place) {
        policy.hit(place);
        removed(place);
    }

    /** Reports a key that was added to the store. */
    void inserted(long place) {
        lock.lock();
        try {
            policy.inserted(place);
        } finally {
            lock.unlock();
        }
    }

    /** Reports a key that was removed from the store, other than as a victim. */
    void removed(long place) {
        if (!policy.keepsKeys()) {
            return;
        }
        lock.lock();
        try {
            policy.removed(place);
        } finally {
            lock.unlock();
        }
    }

    /** Reports a written record of this size. */
    void written(int bytes) {
        recordsWritten.incrementAndGet();
        bytesWritten.addAndGet(bytes);
    }

    long bytesWritten() {
        return bytesWritten.get();
    }

    /** Maximum number of items: lower than the setting if their mean size requires it. */
    long maxItems() {
        long records = recordsWritten.get();
        if (settings.maxBytes() == 0 || records < MIN_SAMPLE) {
            return settings.maxItems();
        }
        long mean = Math.max(1, bytesWritten.get() / records);
        long max = Math.clamp(settings.maxBytes() / FILES_PER_LIVE / mean, 1, settings.maxItems());
        // The store's own overhead per record is unknown, so the size of the files decides.
        return filesFull ? Math.max(1, Math.min(max, store.count() - store.count() / PART_WHEN_FULL)) : max;
    }

    /**
     * Chooses keys to evict, so that the number of items stays within its maximum, not counting pending removals; the
     * caller passes each to its partition queue.
     *
     * @param coming number of records that are about to be written
     */
    List<byte[]> victims(int coming) {
        List<byte[]> victims = new ArrayList<>();
        long over = store.count() + coming - removals.count() - maxItems();
        if (over <= 0) {
            return victims;
        }
        lock.lock();
        try {
            policy.holds(store.count());
            for (long left = Math.min(over, MAX_VICTIMS); left > 0; left--) {
                hand.begin();
                if (!policy.findVictim(hand)) {
                    break;
                }
                byte[] found = recordKeyOf(policy.victim());
                if (found != null) {
                    victims.add(found);
                }
            }
        } finally {
            lock.unlock();
        }
        return victims;
    }

    private byte @Nullable [] recordKeyOf(long place) {
        if (hand.isPositioned() && hand.key() == place) {
            return hand.recordKey();
        }
        finder.seek(RecordKey.prefix(place));
        return finder.next() && ItemKey.placeOf(finder.key()) == place ? finder.key() : null;
    }

    /**
     * Reports the size of the files.
     *
     * @return whether it exceeds its maximum
     */
    boolean updateFileBytes(long bytes) {
        filesFull = bytes > settings.maxBytes() / TEN * NINE;
        return bytes > settings.maxBytes();
    }

    boolean isEnabled() {
        return policy.caches();
    }

    long ramBytes() {
        return policy.ramBytes();
    }

    /** The hand over the store's keys, within the limits of a search. Guarded by the evictor's lock. */
    private static final class Hand implements ClockHand {
        private final KeyCursor cursor;
        private int steps;
        private boolean positioned;

        Hand(KeyCursor cursor) {
            this.cursor = cursor;
        }

        void begin() {
            steps = 0;
            positioned = false;
        }

        boolean isPositioned() {
            return positioned;
        }

        @Override
        public boolean next() {
            if (steps >= MAX_STEPS) {
                return false;
            }
            steps++;
            positioned = cursor.next() || isAnyAtTheBeginning();
            return positioned;
        }

        /** After the last key the first one follows, if there is one. */
        private boolean isAnyAtTheBeginning() {
            return cursor.next();
        }

        @Override
        public long key() {
            return ItemKey.placeOf(cursor.key());
        }

        byte[] recordKey() {
            return cursor.key();
        }
    }
}
