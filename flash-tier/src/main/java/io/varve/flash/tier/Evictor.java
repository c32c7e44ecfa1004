package io.varve.flash.tier;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import io.varve.flash.policy.KeyHand;
import io.varve.flash.policy.ReplacementPolicy;
import io.varve.flash.record.ItemKey;
import io.varve.flash.record.RecordKey;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyWalk;
import org.jspecify.annotations.Nullable;

/**
 * Who goes when flash holds more than it may: the policy, and its hand over the store's keys. Guarded by its own lock, but for
 * {@link #hit}.
 */
final class Evictor {
    /** Keys that a search looks at, at the most. */
    private static final int MOST_STEPS = 1000;
    /** Victims chosen at once. */
    private static final int MOST_VICTIMS = 64;
    /** Of the store's files half at most is live, so that it can be cleaned. */
    private static final int FILES_PER_LIVE = 2;
    /** Records are as large as so many of them are on average. */
    private static final int LEAST_SAMPLE = 1000;
    /** From nine tenths of what the files may take on, this part of the items is too many. */
    private static final int TEN = 10;
    private static final int NINE = 9;
    private static final int PART_WHEN_FULL = 16;

    private final FlashStore store;
    private final ReplacementPolicy policy;
    private final FlashTierSettings settings;
    private final Departures departures;
    private final ReentrantLock lock = new ReentrantLock();
    private final Hand hand;
    private final KeyWalk finder;
    private final AtomicLong recordsWritten = new AtomicLong();
    private final AtomicLong bytesWritten = new AtomicLong();
    private volatile boolean filesFull;

    Evictor(FlashStore store, ReplacementPolicy policy, FlashTierSettings settings, Departures departures) {
        this.store = store;
        this.policy = policy;
        this.settings = settings;
        this.departures = departures;
        hand = new Hand(store.walk());
        finder = store.walk();
    }

    /** The key was asked for, and leaves: by what the policy remembers of it, it may stay longer when it falls again. */
    void hit(long place) {
        policy.hit(place);
        removed(place);
    }

    /** The key is in the store from now on. */
    void inserted(long place) {
        lock.lock();
        try {
            policy.inserted(place);
        } finally {
            lock.unlock();
        }
    }

    /** The key was taken out of the store, and not because it was chosen. */
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

    /** A record was written, of so many bytes. */
    void written(int bytes) {
        recordsWritten.incrementAndGet();
        bytesWritten.addAndGet(bytes);
    }

    long bytesWritten() {
        return bytesWritten.get();
    }

    /** How many items the store may hold: fewer than the settings say where their mean size asks for it. */
    long mostItems() {
        long records = recordsWritten.get();
        if (settings.maxBytes() == 0 || records < LEAST_SAMPLE) {
            return settings.maxItems();
        }
        long mean = Math.max(1, bytesWritten.get() / records);
        long most = Math.clamp(settings.maxBytes() / FILES_PER_LIVE / mean, 1, settings.maxItems());
        // What the store itself takes for a record is not known: the files tell.
        return filesFull ? Math.max(1, Math.min(most, store.count() - store.count() / PART_WHEN_FULL)) : most;
    }

    /**
     * The keys on flash that are to go so that no more are left than there may be, beside those that are leaving; the caller hands
     * each to its lane.
     *
     * @param coming how many are about to be written
     */
    List<byte[]> victims(int coming) {
        List<byte[]> victims = new ArrayList<>();
        long over = store.count() + coming - departures.count() - mostItems();
        if (over <= 0) {
            return victims;
        }
        lock.lock();
        try {
            policy.holds(store.count());
            for (long left = Math.min(over, MOST_VICTIMS); left > 0; left--) {
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
        if (hand.stands() && hand.key() == place) {
            return hand.recordKey();
        }
        finder.seek(RecordKey.prefix(place));
        return finder.next() && ItemKey.placeOf(finder.key()) == place ? finder.key() : null;
    }

    /**
     * How much the files take was looked at.
     *
     * @return whether it is more than it may be
     */
    boolean filesTake(long bytes) {
        filesFull = bytes > settings.maxBytes() / TEN * NINE;
        return bytes > settings.maxBytes();
    }

    boolean keepsAnything() {
        return policy.caches();
    }

    long ramBytes() {
        return policy.ramBytes();
    }

    /** Over the store's keys, within the limits of a search. Guarded by the evictor's lock. */
    private static final class Hand implements KeyHand {
        private final KeyWalk walk;
        private int steps;
        private boolean looked;

        Hand(KeyWalk walk) {
            this.walk = walk;
        }

        void begin() {
            steps = 0;
            looked = false;
        }

        boolean stands() {
            return looked;
        }

        @Override
        public boolean next() {
            if (steps >= MOST_STEPS) {
                return false;
            }
            steps++;
            looked = walk.next() || isAnyAtTheBeginning();
            return looked;
        }

        /** Behind the last key comes the first, if there is one. */
        private boolean isAnyAtTheBeginning() {
            return walk.next();
        }

        @Override
        public long key() {
            return ItemKey.placeOf(walk.key());
        }

        byte[] recordKey() {
            return walk.key();
        }
    }
}
