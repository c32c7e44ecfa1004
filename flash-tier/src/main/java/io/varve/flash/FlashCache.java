package io.varve.flash;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

import io.varve.flash.policy.KeyHand;
import io.varve.flash.policy.ReplacementPolicy;
import io.varve.flash.record.RecordKey;
import io.varve.flash.record.StoredValue;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.flash.store.KeyWalk;
import io.varve.flash.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * The paper's prototype (TBF, section III, Figure 6): stands between a caller and a database on disk and keeps a part of it in a
 * database on flash. Many threads; operations on one key take turns.
 *
 * <p>A read asks flash, else the disk, and then has what it found cached. A write goes to the disk and to flash (write-through),
 * or to flash alone, marked as dirty there, and to the disk when the record is evicted (write-back). Where the cache is full the
 * policy finds a victim.
 *
 * <p>What is acknowledged is with the operating system, on flash and on disk: a process that is killed loses none of it, and
 * flash never answers what was overwritten.
 */
public final class FlashCache implements AutoCloseable {
    /** Keys of one lock take turns. */
    private static final int LOCKS = 1024;
    /** A victim that somebody is busy with is passed over; so many times. */
    private static final int TRIES = 64;

    private final FlashStore flash;
    private final FlashStore disk;
    private final ReplacementPolicy policy;
    private final FlashCacheSettings settings;
    private final LongSupplier nanoTime;
    private final Handover handover;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    /** Guards what follows, and all of the policy but its hits. Taken after a key's lock; a victim's lock is only tried. */
    private final ReentrantLock eviction = new ReentrantLock();
    private final Hand hand;
    private final KeyWalk finder;
    private long items;
    private long evictions;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder corrupt = new LongAdder();
    private final LongAdder writtenBack = new LongAdder();
    private final LongAdder failures = new LongAdder();
    /** Hashes of keys whose record on flash could not be replaced. */
    private final Set<Long> stale = ConcurrentHashMap.newKeySet();

    /**
     * Takes over what is on flash already: a policy that knows each key is told of them all.
     *
     * @param policy   for as many keys as the settings say
     * @param nanoTime a clock
     */
    public FlashCache(FlashStore flash, FlashStore disk, ReplacementPolicy policy, FlashCacheSettings settings,
            LongSupplier nanoTime) {
        this.flash = flash;
        this.disk = disk;
        this.policy = policy;
        this.settings = settings;
        this.nanoTime = nanoTime;
        handover = settings.sync() ? Handover.TO_DEVICE : Handover.TO_SYSTEM;
        Arrays.setAll(locks, _ -> new ReentrantLock());
        hand = new Hand(flash.walk());
        finder = flash.walk();
        KeyWalk walk = flash.walk();
        while (!policy.caches() && walk.next()) {
            drop(walk.key());
        }
        while (policy.caches() && walk.next()) {
            long hash = RecordKey.hashOf(walk.key());
            policy.inserted(hash);
            items++;
            evictOver(settings.items(), hash);
        }
    }

    /** The value, or null if there is none on disk either. */
    public byte @Nullable [] read(byte[] key) {
        byte[] recordKey = RecordKey.of(key);
        long hash = RecordKey.hashOf(recordKey);
        ReentrantLock lock = lock(hash);
        lock.lock();
        try {
            Optional<StoredValue> cached = policy.caches() ? cached(recordKey, hash) : Optional.empty();
            if (cached.isPresent()) {
                hits.increment();
                policy.hit(hash);
                return cached.get().value();
            }
            misses.increment();
            byte[] value = disk.get(key);
            if (value != null && policy.caches()) {
                insert(recordKey, hash, value);
            }
            return value;
        } finally {
            lock.unlock();
        }
    }

    /** Of what was read. If it is lost it is read from disk once more, and so it is if flash has no room for it. */
    private void insert(byte[] recordKey, long hash, byte[] value) {
        try {
            evictOver(settings.items() - 1, hash);
            settle(hash, flash.put(recordKey, new StoredValue(value, false).encode(recordKey), Handover.BUFFERED));
            stale.remove(hash);
        } catch (StoreException failed) {
            failures.increment();
        }
    }

    private Optional<StoredValue> cached(byte[] recordKey, long hash) {
        if (stale.contains(hash)) {
            return Optional.empty();
        }
        byte[] bytes;
        try {
            bytes = flash.get(recordKey);
        } catch (StoreException failed) {
            if (settings.writeBack()) {
                // The value may be on flash alone.
                throw failed;
            }
            failures.increment();
            return Optional.empty();
        }
        if (bytes == null) {
            return Optional.empty();
        }
        Optional<StoredValue> record = StoredValue.decode(recordKey, bytes);
        if (record.isEmpty()) {
            corrupt.increment();
            forgetOrPassOver(recordKey, hash);
        }
        return record;
    }

    /** Sets the value, on disk and on flash or on flash alone. */
    public void write(byte[] key, byte[] value) {
        byte[] recordKey = RecordKey.of(key);
        long hash = RecordKey.hashOf(recordKey);
        ReentrantLock lock = lock(hash);
        lock.lock();
        try {
            boolean back = settings.writeBack() && policy.caches();
            if (!back) {
                disk.put(key, value, handover);
            }
            if (policy.caches()) {
                // Handed over as the write to disk was: after a crash flash must not answer what was there before.
                try {
                    settle(hash, flash.put(recordKey, new StoredValue(value, back).encode(recordKey), handover));
                    stale.remove(hash);
                } catch (StoreException failed) {
                    invalidate(recordKey, hash);
                    throw failed;
                }
                evictOver(settings.items(), hash);
            }
        } finally {
            lock.unlock();
        }
    }

    /** @return whether the key was there, on flash or on disk */
    public boolean delete(byte[] key) {
        byte[] recordKey = RecordKey.of(key);
        long hash = RecordKey.hashOf(recordKey);
        ReentrantLock lock = lock(hash);
        lock.lock();
        try {
            boolean was = disk.delete(key, handover);
            if (!policy.caches()) {
                return was;
            }
            try {
                return forget(recordKey, hash) || was;
            } catch (StoreException failed) {
                // Flash may still have it: it is not to answer with it.
                stale.add(hash);
                throw failed;
            }
        } finally {
            lock.unlock();
        }
    }

    /** What is on flash may be older than what is on disk, and flash takes no change: it is passed over as long as that is so. */
    private void invalidate(byte[] recordKey, long hash) {
        if (!settings.writeBack()) { // else the old value is on flash alone, and the write was refused
            forgetOrPassOver(recordKey, hash);
        }
    }

    private void forgetOrPassOver(byte[] recordKey, long hash) {
        try {
            forget(recordKey, hash);
        } catch (StoreException refused) {
            failures.increment();
            stale.add(hash);
        }
    }

    /** Takes a record away for good: what took it away before, and was only buffered, is handed over too. */
    private boolean forget(byte[] recordKey, long hash) {
        boolean was = flash.delete(recordKey, handover);
        if (was) {
            eviction.lock();
            try {
                policy.removed(hash);
                items--;
            } finally {
                eviction.unlock();
            }
        } else {
            flash.handOver(handover);
        }
        return was;
    }

    /** A record was put there. */
    private void settle(long hash, boolean fresh) {
        if (!fresh) {
            policy.hit(hash);
            return;
        }
        eviction.lock();
        try {
            policy.inserted(hash);
            items++;
        } finally {
            eviction.unlock();
        }
    }

    /**
     * Evicts until so many are left at the most, or nobody can go.
     *
     * @param own the key that it is done for, which stays
     */
    private void evictOver(long most, long own) {
        eviction.lock();
        try {
            for (int tries = 0; items > most && tries < TRIES; tries++) {
                hand.begin(own);
                if (!policy.findVictim(hand)) {
                    return;
                }
                evictOrKeep(policy.victim(), own);
            }
        } catch (StoreException failed) {
            // Too many are cached for a while; the next who needs room tries again.
            failures.increment();
        } finally {
            eviction.unlock();
        }
    }

    private void evictOrKeep(long victim, long own) {
        boolean gone = false;
        try {
            gone = evict(victim, own);
        } finally {
            if (!gone) {
                // Somebody is busy with it, or it cannot go: it stays, as if it had just come.
                policy.inserted(victim);
            }
        }
    }

    private boolean evict(long victim, long own) {
        ReentrantLock lock = lock(victim);
        if (victim == own || !lock.tryLock()) {
            return false;
        }
        try {
            byte[] recordKey = recordKeyOf(victim);
            // Where it is gone already, whoever took it away has counted.
            if (recordKey != null && drop(recordKey)) {
                items--;
                evictions++;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private byte @Nullable [] recordKeyOf(long hash) {
        if (hand.stands() && hand.key() == hash) {
            return hand.recordKey();
        }
        finder.seek(RecordKey.prefix(hash));
        return finder.next() && RecordKey.hashOf(finder.key()) == hash ? finder.key() : null;
    }

    private boolean drop(byte[] recordKey) {
        // With write-through too: what is on flash may be from a time of write-back, and nowhere else.
        byte[] bytes = flash.get(recordKey);
        Optional<StoredValue> record = bytes == null ? Optional.empty() : StoredValue.decode(recordKey, bytes);
        if (bytes != null && record.isEmpty()) {
            corrupt.increment();
        }
        if (record.isPresent() && record.get().dirty()) {
            disk.put(RecordKey.keyOf(recordKey), record.get().value(), handover);
            writtenBack.increment();
        }
        // If this is lost the record is there again, with a value that the disk has too.
        return flash.delete(recordKey, Handover.BUFFERED);
    }

    private ReentrantLock lock(long hash) {
        return locks[(int) (hash & LOCKS - 1)];
    }

    /** What has happened so far. */
    public FlashCacheStats stats() {
        eviction.lock();
        try {
            return new FlashCacheStats(items, hits.sum(), misses.sum(), evictions, corrupt.sum(), writtenBack.sum(),
                    failures.sum(), policy.keysTraversed(), policy.poorVictims(), policy.ramBytes());
        } finally {
            eviction.unlock();
        }
    }

    /** Closes both stores. What is dirty stays on flash, and is dirty when it is opened again. */
    @Override
    public void close() {
        try {
            flash.close();
        } finally {
            disk.close();
        }
    }

    /** The policy's hand over the keys on flash, within the limits of a search. Guarded by {@link #eviction}. */
    private final class Hand implements KeyHand {
        /** Of the four bits that are left of a random number: keys that are passed over after a jump. */
        private static final int SKIP_SHIFT = 60;

        private final KeyWalk walk;
        private long own;
        private int steps;
        private long endNanos;
        private boolean looked;

        Hand(KeyWalk walk) {
            this.walk = walk;
        }

        void begin(long forKey) {
            own = forKey;
            steps = 0;
            endNanos = nanoTime.getAsLong() + settings.mostTime().toNanos();
            looked = false;
        }

        /** Whether this search has looked at a key, where it stands then. */
        boolean stands() {
            return looked;
        }

        @Override
        public boolean next() {
            // However late it is: a search that looks at nobody finds nobody.
            while (steps < settings.mostSteps() && (!looked || nanoTime.getAsLong() - endNanos < 0)) {
                steps++;
                if (!walk.next() && isEmptyFromItsBeginning()) {
                    return false;
                }
                if (key() != own) {
                    looked = true;
                    return true;
                }
            }
            return false;
        }

        /** Behind the last key comes the first, if there is one. */
        private boolean isEmptyFromItsBeginning() {
            return !walk.next();
        }

        @Override
        public long key() {
            return RecordKey.hashOf(walk.key());
        }

        byte[] recordKey() {
            return walk.key();
        }

        /** Keys behind long gaps would be met more often than others: so some more, drawn too, are passed over. */
        @Override
        public void jump(long random) {
            walk.seek(RecordKey.prefix(random));
            for (long i = random >>> SKIP_SHIFT; i > 0; i--) {
                if (!walk.next()) {
                    walk.seek(new byte[0]);
                }
            }
        }
    }
}
