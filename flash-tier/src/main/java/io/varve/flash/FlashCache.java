package io.varve.flash;

import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.varve.flash.policy.ClockHand;
import io.varve.flash.policy.ReplacementPolicy;
import io.varve.flash.record.RecordKey;
import io.varve.flash.record.StoredValue;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.KeyCursor;
import io.varve.flash.store.StoreException;
import org.jspecify.annotations.Nullable;

/**
 * The prototype of the paper (TBF, section III, Figure 6): a cache on flash in front of a database on disk. Many
 * threads; operations on one key are serialized.
 *
 * <p>A read looks in flash, then on the disk, and caches a record found there. A write goes to the disk and to flash
 * (write-through), or to flash alone. In the latter case the record is marked dirty and goes to the disk when it is
 * evicted (write-back). If the cache is full, the policy chooses a victim.
 *
 * <p>Acknowledged data is with the operating system, on flash and on disk. So a killed process loses none of it, and
 * flash never returns an overwritten value. To that end write-through removes a record from flash before the disk gets
 * the new one. A write for which flash cannot remove the old record fails before anything has changed.
 */
public final class FlashCache implements AutoCloseable {
    /** Operations on keys of one lock are serialized. */
    private static final int LOCKS = 1024;
    /** Number of attempts to find a victim whose lock is free. */
    private static final int TRIES = 64;
    /** If flash is full, one of this many records is evicted. */
    private static final int EVICTED_WHEN_FULL = 100;
    /** The note that records on flash may be dirty. */
    private static final String DIRTY = "dirty";

    private final FlashStore flash;
    private final FlashStore disk;
    private final ReplacementPolicy policy;
    private final FlashCacheSettings settings;
    private final LongSupplier nanoTime;
    private final DurabilityLevel durability;
    private final boolean writeBack;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];
    /**
     * Guards the fields below, and the whole policy except its hits. Taken after a key's lock; a victim's lock is only
     * tried.
     */
    private final ReentrantLock eviction = new ReentrantLock();
    private final Hand hand;
    private final KeyCursor finder;
    private long evictions;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();
    private final LongAdder corrupt = new LongAdder();
    private final LongAdder writtenBack = new LongAdder();
    private final LongAdder failures = new LongAdder();

    /**
     * Takes over the existing records on flash: a policy that stores each key learns all of them. Dirty records of an
     * earlier write-back run are written to the disk first, unless this run uses write-back too.
     *
     * @param policy the policy, created for the number of items in the settings
     * @param nanoTime a clock
     */
    public FlashCache(FlashStore flash, FlashStore disk, ReplacementPolicy policy, FlashCacheSettings settings,
            LongSupplier nanoTime) {
        this.flash = flash;
        this.disk = disk;
        this.policy = policy;
        this.settings = settings;
        this.nanoTime = nanoTime;
        durability = settings.sync() ? DurabilityLevel.TO_DEVICE : DurabilityLevel.TO_SYSTEM;
        Arrays.setAll(locks, _ -> new ReentrantLock());
        hand = new Hand(flash.walk());
        finder = flash.walk();
        writeBack = settings.writeBack() && policy.caches();
        if (writeBack) {
            flash.setNote(DIRTY, true);
        } else if (flash.hasNote(DIRTY)) {
            writeAllBack();
        }
        KeyCursor cursor = flash.walk();
        while (!policy.caches() && cursor.next()) {
            drop(cursor.key());
        }
        if (!policy.caches()) {
            // Flash is neither read nor updated from here on: its records must not reappear.
            flash.makeDurable(durability);
        }
        while (policy.caches() && cursor.next()) {
            long hash = RecordKey.hashOf(cursor.key());
            policy.inserted(hash);
            evictOver(settings.items(), hash);
        }
    }

    private void writeAllBack() {
        for (KeyCursor cursor = flash.walk(); cursor.next();) {
            byte[] recordKey = cursor.key();
            Optional<StoredValue> record = record(recordKey);
            if (record.isPresent() && record.get().dirty()) {
                writeBack(recordKey, record.get());
                flash.put(recordKey, new StoredValue(record.get().value(), false).encode(recordKey),
                        DurabilityLevel.BUFFERED);
            }
        }
        // A dirty record may have been on the device, and so must its successor be.
        disk.makeDurable(DurabilityLevel.TO_DEVICE);
        flash.setNote(DIRTY, false);
    }

    private void writeBack(byte[] recordKey, StoredValue record) {
        disk.put(RecordKey.keyOf(recordKey), record.value(), durability);
        writtenBack.increment();
    }

    /** The record on flash, if it is intact. */
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

    /** Caches a value after a read. If it is lost, or flash has no space for it, the next read goes to the disk. */
    private void insert(byte[] recordKey, long hash, byte[] value) {
        try {
            evictOver(settings.items() - 1, hash);
            settle(hash,
                    flash.put(recordKey, new StoredValue(value, false).encode(recordKey), DurabilityLevel.BUFFERED));
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
                // It stays, and is as corrupt at the next read.
                failures.increment();
            }
        }
        return record;
    }

    /**
     * Sets the value, on disk and on flash or on flash alone.
     *
     * @throws StoreException if it was not handed over; a later read returns the old value or the new one
     */
    public void write(byte[] key, byte[] value) {
        byte[] recordKey = RecordKey.of(key);
        long hash = RecordKey.hashOf(recordKey);
        ReentrantLock lock = lock(hash);
        lock.lock();
        try {
            if (!policy.caches()) {
                disk.put(key, value, durability);
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
     * Reads the value and writes a changed one atomically with regard to the key.
     *
     * @param change receives the value, or null if there is none
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

    /** Writes a dirty record; if flash is full, some of its records are evicted to the disk first. */
    private boolean putDirty(byte[] recordKey, long hash, byte[] value) {
        byte[] record = new StoredValue(value, true).encode(recordKey);
        try {
            return flash.put(recordKey, record, durability);
        } catch (StoreException full) {
            if (full.kind() != StoreException.Kind.FULL) {
                throw full;
            }
            evictOver(Math.max(0, flash.count() - 1 - flash.count() / EVICTED_WHEN_FULL), hash);
            return flash.put(recordKey, record, durability);
        }
    }

    /**
     * Between the two writes flash has no record of the key, so that a kill leaves no value there that the disk has
     * overwritten.
     */
    private void writeThrough(byte[] key, byte[] recordKey, long hash, byte[] value) {
        boolean was = flash.delete(recordKey, durability);
        boolean there = false;
        try {
            disk.put(key, value, durability);
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

    /** Writes a clean record; if it is lost, the next read goes to the disk again. */
    private boolean putBack(byte[] recordKey, long hash, byte[] value, boolean was) {
        try {
            flash.put(recordKey, new StoredValue(value, false).encode(recordKey), DurabilityLevel.BUFFERED);
        } catch (StoreException refused) {
            failures.increment();
            return false;
        }
        settle(hash, !was);
        return true;
    }

    /** @return whether the key existed, on flash or on disk */
    public boolean delete(byte[] key) {
        byte[] recordKey = RecordKey.of(key);
        long hash = RecordKey.hashOf(recordKey);
        ReentrantLock lock = lock(hash);
        lock.lock();
        try {
            if (!policy.caches()) {
                return disk.delete(key, durability);
            }
            // A kill in between means that nothing happened: the value that a read would return is deleted last.
            if (isDirty(recordKey)) {
                disk.delete(key, durability);
                return forget(recordKey, hash);
            }
            boolean was = forget(recordKey, hash);
            return disk.delete(key, durability) || was;
        } finally {
            lock.unlock();
        }
    }

    /** Whether the value is on flash alone. */
    private boolean isDirty(byte[] recordKey) {
        return writeBack && record(recordKey).filter(StoredValue::dirty).isPresent();
    }

    /** Deletes a record durably: this also hands over an earlier buffered deletion. */
    private boolean forget(byte[] recordKey, long hash) {
        boolean was = flash.delete(recordKey, durability);
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

    /** Reports a written record to the policy. */
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
     * Evicts until at most this many records remain, or no victim is found.
     *
     * @param own the key that causes the eviction, which stays
     */
    private void evictOver(long max, long own) {
        eviction.lock();
        try {
            for (int tries = 0; flash.count() > max && tries < TRIES; tries++) {
                hand.begin(own);
                if (!policy.findVictim(hand)) {
                    return;
                }
                evictOrKeep(policy.victim(), own);
            }
        } catch (StoreException failed) {
            // The cache exceeds its limit for a while; the next insertion tries again.
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
                // Another thread uses it, or it cannot be evicted: it stays, as if newly inserted.
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
            // If it was removed already, the thread that removed it has counted it.
            if (recordKey != null && drop(recordKey)) {
                evictions++;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private byte @Nullable [] recordKeyOf(long hash) {
        if (hand.isPositioned() && hand.key() == hash) {
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
        // If this is lost, the record reappears, with a value that the disk has too.
        return flash.delete(recordKey, DurabilityLevel.BUFFERED);
    }

    private ReentrantLock lock(long hash) {
        return locks[(int) (hash & LOCKS - 1)];
    }

    /** The counters. */
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

    /** Closes both stores. Dirty records stay dirty on flash. */
    @Override
    public void close() {
        try {
            flash.close();
        } finally {
            disk.close();
        }
    }

    /** The policy's hand over the keys on flash, within the limits of a search. Guarded by {@link #eviction}. */
    private final class Hand implements ClockHand {
        private final KeyCursor cursor;
        private long own;
        private int steps;
        private long endNanos;
        private boolean positioned;

        Hand(KeyCursor cursor) {
            this.cursor = cursor;
        }

        void begin(long forKey) {
            own = forKey;
            steps = 0;
            endNanos = nanoTime.getAsLong() + settings.maxDuration().toNanos();
            positioned = false;
        }

        /** Whether this search has visited a key, which is its current position. */
        boolean isPositioned() {
            return positioned;
        }

        @Override
        public boolean next() {
            // Visits at least one key even after the deadline: otherwise the search would find nothing.
            while (steps < settings.maxSteps() && (!positioned || nanoTime.getAsLong() - endNanos < 0)) {
                steps++;
                if (!cursor.next() && isEmptyFromItsBeginning()) {
                    return false;
                }
                if (key() != own) {
                    positioned = true;
                    return true;
                }
            }
            return false;
        }

        /** After the last key the first one follows, if there is one. */
        private boolean isEmptyFromItsBeginning() {
            return !cursor.next();
        }

        @Override
        public long key() {
            return RecordKey.hashOf(cursor.key());
        }

        byte[] recordKey() {
            return cursor.key();
        }
    }
}
