package io.varve.flash;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
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
 * flash never answers what was overwritten. So with write-through a record is taken off flash before the disk gets the new one,
 * and a write that flash cannot make way for is refused before anything has changed.
 */
public final class FlashCache implements AutoCloseable {
    /** Keys of one lock take turns. */
    private static final int LOCKS = 1024;
    /** A victim that somebody is busy with is passed over; so many times. */
    private static final int TRIES = 64;
    /** Of so many records one goes where flash is full. */
    private static final int EVICTED_WHEN_FULL = 100;
    /** The note that records on flash may be dirty. */
    private static final String DIRTY = "dirty";

    private final FlashStore flash;
    private final FlashStore disk;
    private final ReplacementPolicy policy;
    private final FlashCacheSettings settings;
    private final LongSupplier nanoTime;
    private final Handover handover;
    private final boolean writeBack;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    /** Guards what follows, and all of the policy but its hits. Taken after a key's lock; a victim's lock is only tried. */
    private final ReentrantLock eviction = new ReentrantLock();
    private final Hand hand;
    private final KeyWalk finder;
    private long evictions;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder corrupt = new LongAdder();
    private final LongAdder writtenBack = new LongAdder();
    private final LongAdder failures = new LongAdder();

    /**
     * Takes over what is on flash already: a policy that knows each key is told of them all. What a time of write-back has left
     * dirty is written to the disk first, unless this is such a time too.
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
        writeBack = settings.writeBack() && policy.caches();
        if (writeBack) {
            flash.note(DIRTY, true);
        } else if (flash.noted(DIRTY)) {
            writeAllBack();
        }
        KeyWalk walk = flash.walk();
        while (!policy.caches() && walk.next()) {
            drop(walk.key());
        }
        if (!policy.caches()) {
            // Flash is not asked any more, nor told of writes: what it had must not come back.
            flash.handOver(handover);
        }
        while (policy.caches() && walk.next()) {
            long hash = RecordKey.hashOf(walk.key());
            policy.inserted(hash);
            evictOver(settings.items(), hash);
        }
    }

    private void writeAllBack() {
        for (KeyWalk walk = flash.walk(); walk.next();) {
            byte[] recordKey = walk.key();
            Optional<StoredValue> record = record(recordKey);
            if (record.isPresent() && record.get().dirty()) {
                writeBack(recordKey, record.get());
                flash.put(recordKey, new StoredValue(record.get().value(), false).encode(recordKey), Handover.BUFFERED);
            }
        }
        // It may have been on the device as long as it was dirty, and the note is.
        disk.handOver(Handover.TO_DEVICE);
        flash.note(DIRTY, false);
    }

    private void writeBack(byte[] recordKey, StoredValue record) {
        disk.put(RecordKey.keyOf(recordKey), record.value(), handover);
        writtenBack.increment();
    }

    /** What is on flash, if it is whole. */
    private Optional<StoredValue> record(byte[] recordKey) {
        byte[] bytes = flash.get(recordKey);
        Optional<StoredValue> record = bytes == null ? Optional.empty() : StoredValue.decode(recordKey, bytes);
        if (bytes != null && record.isEmpty()) {
            corrupt.increment();
        }
        return record;
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
        } catch (StoreException failed) {
            failures.increment();
        }
    }

    private Optional<StoredValue> cached(byte[] recordKey, long hash) {
        byte[] bytes;
        try {
            bytes = flash.get(recordKey);
        } catch (StoreException failed) {
            if (writeBack) {
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
            try {
                forget(recordKey, hash);
            } catch (StoreException refused) {
                // It stays, and is as corrupt when it is read again.
                failures.increment();
            }
        }
        return record;
    }

    /**
     * Sets the value, on disk and on flash or on flash alone.
     *
     * @throws StoreException if it was not handed over; a later read answers the old value or the new one
     */
    public void write(byte[] key, byte[] value) {
        byte[] recordKey = RecordKey.of(key);
        long hash = RecordKey.hashOf(recordKey);
        ReentrantLock lock = lock(hash);
        lock.lock();
        try {
            if (!policy.caches()) {
                disk.put(key, value, handover);
            } else if (writeBack) {
                settle(hash, putDirty(recordKey, hash, value));
                evictOver(settings.items(), hash);
            } else {
                writeThrough(key, recordKey, hash, value);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads the value and writes what is made of it; nobody reads or writes the key in between.
     *
     * @param change gets the value, or null if there is none
     */
    public void update(byte[] key, Function<byte @Nullable [], byte[]> change) {
        ReentrantLock lock = lock(RecordKey.hashOf(RecordKey.of(key)));
        lock.lock();
        try {
            write(key, change.apply(read(key)));
        } finally {
            lock.unlock();
        }
    }

    /** Where flash is full a few of its records go to the disk for it. */
    private boolean putDirty(byte[] recordKey, long hash, byte[] value) {
        byte[] record = new StoredValue(value, true).encode(recordKey);
        try {
            return flash.put(recordKey, record, handover);
        } catch (StoreException full) {
            if (full.kind() != StoreException.Kind.FULL) {
                throw full;
            }
            evictOver(Math.max(0, flash.count() - 1 - flash.count() / EVICTED_WHEN_FULL), hash);
            return flash.put(recordKey, record, handover);
        }
    }

    /** Between the two writes flash has nothing of the key, so that a kill leaves nothing there that the disk has overwritten. */
    private void writeThrough(byte[] key, byte[] recordKey, long hash, byte[] value) {
        boolean was = flash.delete(recordKey, handover);
        boolean there = false;
        try {
            disk.put(key, value, handover);
            there = putBack(recordKey, hash, value, was);
        } finally {
            if (was && !there) {
                uncount(hash);
            }
        }
        if (there) {
            evictOver(settings.items(), hash);
        }
    }

    /** As after a read: if it is lost it is read from disk once more. */
    private boolean putBack(byte[] recordKey, long hash, byte[] value, boolean was) {
        try {
            flash.put(recordKey, new StoredValue(value, false).encode(recordKey), Handover.BUFFERED);
        } catch (StoreException refused) {
            failures.increment();
            return false;
        }
        settle(hash, !was);
        return true;
    }

    /** @return whether the key was there, on flash or on disk */
    public boolean delete(byte[] key) {
        byte[] recordKey = RecordKey.of(key);
        long hash = RecordKey.hashOf(recordKey);
        ReentrantLock lock = lock(hash);
        lock.lock();
        try {
            if (!policy.caches()) {
                return disk.delete(key, handover);
            }
            // What is killed in between has not happened: the value that would be answered next is the last to go.
            if (isDirty(recordKey)) {
                disk.delete(key, handover);
                return forget(recordKey, hash);
            }
            boolean was = forget(recordKey, hash);
            return disk.delete(key, handover) || was;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the value is on flash alone. */
    private boolean isDirty(byte[] recordKey) {
        return writeBack && record(recordKey).filter(StoredValue::dirty).isPresent();
    }

    /** Takes a record away for good: what took it away before, and was only buffered, is handed over too. */
    private boolean forget(byte[] recordKey, long hash) {
        boolean was = flash.delete(recordKey, handover);
        if (was) {
            uncount(hash);
        }
        return was;
    }

    private void uncount(long hash) {
        eviction.lock();
        try {
            policy.removed(hash);
        } finally {
            eviction.unlock();
        }
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
            for (int tries = 0; flash.count() > most && tries < TRIES; tries++) {
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
        Optional<StoredValue> record = writeBack ? record(recordKey) : Optional.empty();
        if (record.isPresent() && record.get().dirty()) {
            writeBack(recordKey, record.get());
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
            return new FlashCacheStats(flash.count(), hits.sum(), misses.sum(), evictions, corrupt.sum(),
                    writtenBack.sum(),
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
    }
}
