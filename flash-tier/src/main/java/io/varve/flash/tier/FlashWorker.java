package io.varve.flash.tier;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.store.StoreException;
import io.varve.flash.tier.Fetch.Outcome;
import io.varve.flash.tier.Fetch.RequestedKey;
import io.varve.flash.tier.FlashPartitionQueue.KeyFetch;
import io.varve.flash.tier.PendingRemovals.PendingRemoval;
import io.varve.flash.wait.ShardLoan;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Moves the items of one partition queue between memory and flash. Confined to the queue's thread, and to a thread that
 * runs its work under shards while it waits ({@link ShardLoan}).
 */
final class FlashWorker {
    private static final System.Logger LOG = System.getLogger(FlashWorker.class.getName());
    /** Maximum memory of an item beside its key and its value. */
    private static final int ITEM_OVERHEAD_BYTES = 128;
    private static final int MIN_KEY_BYTES = 256;
    /** Records are brought back in parts of about this size. */
    private static final long PART_BYTES = 1 << 20;
    /** Maximum number of attempts to reclaim memory for an item. */
    private static final int MAX_ATTEMPTS = 3;
    private static final long PAUSE_AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final FlashTier tier;
    private final FlashPartitionQueue partitionQueue;
    private final Cache cache;
    private final CacheSession session;
    private final CaptureWalk walk;
    private final Counts counts;
    private final ShardLoan loan;
    private final Key key = new Key();
    private boolean failureLogged;
    private MemorySegment keyBytes = Arena.ofAuto().allocate(MIN_KEY_BYTES);

    /** An item that can return to memory. Immutable. */
    private record Found(KeyFetch keyFetch, DemotedItem item, StoreWriteBatch.@Nullable Removal removal) {}

    /** @param walk over the items of its queue's partition */
    FlashWorker(FlashTier tier, FlashPartitionQueue partitionQueue, CaptureWalk walk, Cache cache) {
        this.tier = tier;
        this.partitionQueue = partitionQueue;
        this.walk = walk;
        this.cache = cache;
        session = cache.newSession();
        counts = tier.counts();
        loan = tier.loan();
    }

    /** Runs until the queue ends. It survives any failure, since requests would otherwise wait for ever. */
    void run() {
        boolean running = true;
        while (running) {
            try {
                running = runRound();
            } catch (RuntimeException | Error failed) {
                failed(failed);
                LockSupport.parkNanos(PAUSE_AFTER_FAILURE_NANOS);
            }
        }
    }

    private void failed(Throwable failed) {
        LOG.log(failureLogged ? System.Logger.Level.DEBUG : System.Logger.Level.ERROR,
                "A worker of the flash tier failed and continues; further failures are not logged", failed);
        failureLogged = true;
    }

    /** @return whether there may be more work */
    private boolean runRound() {
        FlashPartitionQueue.Work work = partitionQueue.take();
        if (work.isEnd()) {
            return false;
        }
        ResidencyFilter residency = tier.residency();
        try {
            if (work.task() != null) {
                work.task().run();
            } else if (work.fetches().isEmpty()) {
                writeDown(work.demoted(), work.queuedRemovals());
            } else {
                promote(work.fetches());
            }
        } catch (RuntimeException | Error failed) {
            // The location of its items is unknown.
            work.queuedRemovals().forEach(key -> tier.removals().end(key.name()));
            loan.beginFailure();
            try {
                tier.invalidateAll(residency, failed);
            } finally {
                loan.endFailure();
            }
        } finally {
            work.fetches().forEach(this::notifyRequesters);
        }
        return true;
    }

    private void notifyRequesters(KeyFetch keyFetch) {
        for (FlashPartitionQueue.FetchRequest request : keyFetch.requests()) {
            try {
                if (!keyFetch.isLoad()) {
                    counts.read(tier.nanoTime() - request.sinceNanos());
                }
                request.fetch().outcomeKnown();
                loan.completed();
            } catch (RuntimeException cancelled) {
                LOG.log(System.Logger.Level.DEBUG, "No client waits for the fetched item any more", cancelled);
            } catch (Error failed) {
                // The other requests must be completed regardless.
                failed(failed);
            }
        }
    }

    // --- demotion and removal

    private void writeDown(List<DemotedItem> demoted, List<PendingRemoval> queuedRemovals) {
        ResidencyFilter residency = tier.residency();
        StoreWriteBatch writeBatch = tier.newWriteBatch();
        boolean hasSpace = !tier.removals().isOverLimit();
        for (DemotedItem next : demoted) {
            if (!hasSpace) {
                shed(next, residency);
            } else if (residency.counts(ItemKey.epochOf(next.recordKey()))) {
                ItemRecord.seal(next.recordKey(), next.record());
                writeBatch.write(next);
            }
        }
        if (hasSpace) {
            tier.evictor().victims(demoted.size()).forEach(victim -> tier.remove(victim, true));
        }
        List<StoreWriteBatch.Removal> removals = queuedRemovals.stream()
                .map(key -> writeBatch.remove(key.name().recordKey(), false))
                .toList();
        writeBatch.run();
        for (StoreWriteBatch.Write write : writeBatch.writes()) {
            DemotedItem next = write.demotedItem();
            long place = ItemKey.placeOf(next.recordKey());
            if (write.refused()) {
                shed(next, residency);
                tier.refuse();
            } else {
                tier.evictor().inserted(place);
                tier.evictor().written(next.bytes());
                counts.written.increment();
                tier.accepted();
            }
        }
        List<PendingRemoval> unmoved = new ArrayList<>();
        for (int i = 0; i < removals.size(); i++) {
            if (removals.get(i).refused()) {
                unmoved.add(queuedRemovals.get(i));
            } else {
                completeRemoval(queuedRemovals.get(i), removals.get(i), residency);
            }
        }
        if (!unmoved.isEmpty()) {
            tier.refuse();
            tier.retryRemovals(partitionQueue, unmoved);
        }
    }

    private void shed(DemotedItem item, ResidencyFilter residency) {
        dropped(item.recordKey());
        residency.remove(ItemKey.placeOf(item.recordKey()), ItemKey.epochOf(item.recordKey()));
        counts.shed.increment();
    }

    /**
     * Reports a key that is in no tier any more, unless its database was flushed. Called before it is unregistered, so
     * before any command can find that it is absent.
     */
    private void dropped(byte[] recordKey) {
        bind(recordKey, 0);
        BooleanSupplier report = () -> isReported(recordKey);
        boolean reported = loan.run(report, report);
        assert reported;
    }

    private boolean isReported(byte[] recordKey) {
        session.lock(key);
        try {
            if (isBound(ItemKey.epochOf(recordKey), 0)) {
                session.dropped(key);
            }
        } finally {
            session.unlock(key);
        }
        return true;
    }

    private void completeRemoval(PendingRemoval key, StoreWriteBatch.Removal removal, ResidencyFilter residency) {
        if (removal.done()) {
            dropped(removal.recordKey());
        }
        uncount(residency, removal);
        if (key.evicted()) {
            counts.evictions.add(removal.done() ? 1 : 0);
        } else {
            tier.evictor().removed(ItemKey.placeOf(removal.recordKey()));
        }
        tier.removals().end(key.name());
    }

    private static void uncount(ResidencyFilter residency, StoreWriteBatch.Removal removal) {
        if (removal.uncounts()) {
            residency.remove(ItemKey.placeOf(removal.recordKey()), ItemKey.epochOf(removal.recordKey()));
        }
    }

    // --- promotion

    /**
     * Works in parts, so that only some of the records are on the heap at a time, and memory has space for each part.
     */
    private void promote(List<KeyFetch> fetches) {
        ResidencyFilter residency = tier.residency();
        session.now(tier.wallMillis());
        int next = 0;
        while (next < fetches.size()) {
            Part part = new Part(tier.newWriteBatch());
            try {
                while (next < fetches.size() && part.bytes < PART_BYTES) {
                    readKey(fetches.get(next), part, residency);
                    next++;
                }
                promote(part, residency);
            } finally {
                tier.loadingBytes().addAndGet(-part.loadingBytes);
            }
        }
    }

    private void promote(Part part, ResidencyFilter residency) {
        part.writeBatch.run();
        part.absent.forEach(keyFetch -> keyFetch.outcome(Outcome.ABSENT));
        part.useless.forEach((keyFetch, removal) -> {
            keyFetch.outcome(removal.refused() ? Outcome.NO_SPACE : Outcome.ABSENT);
            if (removal.done()) {
                dropped(removal.recordKey());
            }
            uncount(residency, removal);
            tier.evictor().removed(ItemKey.placeOf(removal.recordKey()));
        });
        List<Found> unmoved = new ArrayList<>();
        for (Found found : part.found) {
            if (found.removal() != null && found.removal().refused()) {
                // It stays there, since its removal could not be recorded.
                found.keyFetch().outcome(Outcome.NO_SPACE);
                tier.refuse();
            } else if (!found.keyFetch().isLoad()) {
                promote(found, residency);
            } else if (!isLoaded(found, residency)) {
                unmoved.add(found);
            }
        }
        returnToStore(unmoved, residency);
    }

    /** A part of the requested keys. */
    private static final class Part {
        private final StoreWriteBatch writeBatch;
        private final List<Found> found = new ArrayList<>();
        private final List<KeyFetch> absent = new ArrayList<>();
        /** Records that are expired or corrupt. */
        private final Map<KeyFetch, StoreWriteBatch.Removal> useless = new IdentityHashMap<>();
        /** Bytes of the found items in memory. */
        private long bytes;
        /** Bytes of preloaded items. */
        private long loadingBytes;

        Part(StoreWriteBatch writeBatch) {
            this.writeBatch = writeBatch;
        }
    }

    private void readKey(KeyFetch keyFetch, Part part, ResidencyFilter residency) {
        RequestedKey requestedKey = keyFetch.requestedKey();
        DemotedItem demoted = keyFetch.demoted();
        if (!residency.counts(requestedKey.epoch())) {
            part.absent.add(keyFetch);
            return;
        }
        byte @Nullable [] record;
        try {
            record = demoted == null ? tier.store().get(requestedKey.recordKey()) : demoted.record();
        } catch (StoreException unreadable) {
            if (!keyFetch.isLoad()) {
                throw unreadable;
            }
            // It was not requested, and nothing has changed: a later request reports the failure.
            LOG.log(System.Logger.Level.DEBUG, "A record stays on flash because it cannot be read", unreadable);
            keyFetch.outcome(Outcome.OTHER);
            return;
        }
        if (record == null) {
            countMiss(keyFetch);
            part.absent.add(keyFetch);
            return;
        }
        if (demoted == null && !ItemRecord.isWhole(requestedKey.recordKey(), record)) {
            counts.corrupt.increment();
            countMiss(keyFetch);
            LOG.log(System.Logger.Level.WARNING, "A record on flash is damaged and counts as missing");
            part.useless.put(keyFetch, part.writeBatch.remove(requestedKey.recordKey(), true));
            return;
        }
        long expireAt = ItemRecord.expireAtMillis(record);
        if (expireAt >= 0 && session.now() > expireAt) {
            counts.expired.increment();
            countMiss(keyFetch);
            if (demoted == null) {
                part.useless.put(keyFetch, part.writeBatch.remove(requestedKey.recordKey(), true));
            } else {
                part.absent.add(keyFetch);
                dropped(requestedKey.recordKey());
                residency.remove(requestedKey.place(), requestedKey.epoch());
            }
            return;
        }
        long bytes = record.length + requestedKey.recordKey().length + (long) ITEM_OVERHEAD_BYTES;
        Outcome reasonToStay = reasonToStay(keyFetch, record, part, bytes);
        if (reasonToStay != null) {
            keyFetch.outcome(reasonToStay);
            if (demoted != null) {
                returnToQueue(demoted, requestedKey, residency);
            }
            return;
        }
        part.bytes += bytes;
        if (!keyFetch.isLoad()) {
            counts.hits.increment();
        }
        if (demoted != null) {
            part.found.add(new Found(keyFetch, demoted, null));
            return;
        }
        DemotedItem read = new DemotedItem(requestedKey.recordKey(), record);
        partitionQueue.beginMove(read);
        part.found.add(new Found(keyFetch, read, part.writeBatch.remove(requestedKey.recordKey(), true)));
    }

    private void countMiss(KeyFetch keyFetch) {
        if (!keyFetch.isLoad()) {
            counts.misses.increment();
        }
    }

    /** The reason why an item stays on flash; null if memory has space for it, with others of its part. */
    private @Nullable Outcome reasonToStay(KeyFetch keyFetch, byte[] record, Part part, long bytes) {
        if (!keyFetch.isLoad()) {
            return admit(part.bytes + bytes) ? null : Outcome.NO_SPACE;
        }
        // An item from before a restart may be of a class beyond the current number of classes: it counts as the last
        // one. The configured number applies even without penalty tracking.
        if (Math.min(ItemRecord.penaltyClass(record), cache.config().penalties().classes() - 1) != keyFetch
                .loadedClass()) {
            return Outcome.OTHER;
        }
        // Includes the items of all workers: no item should be evicted because two of them saw one piece of free space.
        part.loadingBytes += bytes;
        long together = tier.loadingBytes().addAndGet(bytes);
        boolean[] isLent = new boolean[1];
        boolean admitted = loan.run(() -> cache.admitLoaded(keyFetch.loadedClass(), together), () -> {
            // A script waits for another key, and does not wait for this one.
            isLent[0] = true;
            return false;
        });
        if (admitted) {
            return null;
        }
        return isLent[0] ? Outcome.CONTENDED : Outcome.NO_SPACE;
    }

    private boolean admit(long bytes) {
        return loan.run(() -> cache.admit(bytes), () -> cache.admitUnderLocks(bytes));
    }

    /** Queues an item again that found no space in memory; it was counted all the time. */
    private void returnToQueue(DemotedItem demoted, RequestedKey requestedKey, ResidencyFilter residency) {
        if (partitionQueue.demote(demoted)) {
            residency.invalidateAbsence(requestedKey.place());
        } else {
            shed(demoted, residency);
        }
    }

    /** Restores an item that is in no other place. */
    private void promote(Found found, ResidencyFilter residency) {
        for (int tries = 1; tries <= MAX_ATTEMPTS; tries++) {
            bind(found);
            BooleanSupplier restore = () -> isRestored(found, residency);
            if (loan.run(restore, restore)) {
                // Without the shard's lock: another thread may hold the policy's lock while it searches the store.
                tier.evictor().hit(found.keyFetch().requestedKey().place());
                return;
            }
            if (!admit(found.item().bytes() + (long) ITEM_OVERHEAD_BYTES)) {
                break;
            }
        }
        found.keyFetch().outcome(Outcome.NO_SPACE);
        StoreWriteBatch.Removal removal = found.removal();
        if (removal == null || removal.uncounts()) {
            returnToQueue(found.item(), found.keyFetch().requestedKey(), residency);
        } else {
            dropped(found.item().recordKey());
            counts.shed.increment();
        }
    }

    private boolean isRestored(Found found, ResidencyFilter residency) {
        session.lock(key);
        return isBack(found, residency);
    }

    /**
     * Restores a preloaded item; requests for other keys of the queue must not wait for its shard.
     *
     * @return false if it returns to the store
     */
    private boolean isLoaded(Found found, ResidencyFilter residency) {
        bind(found);
        if (!session.lockWithin(key, CacheSession.DEFAULT_NAPS, false)) {
            found.keyFetch().outcome(Outcome.CONTENDED);
            return false;
        }
        if (!isBack(found, residency)) {
            found.keyFetch().outcome(Outcome.NO_SPACE);
            return false;
        }
        tier.evictor().removed(found.keyFetch().requestedKey().place());
        return true;
    }

    /**
     * Writes the records of preloaded items back in place. They were not requested, so they must not be lost because
     * demoted items fill the queue.
     */
    private void returnToStore(List<Found> unmoved, ResidencyFilter residency) {
        StoreWriteBatch writeBatch = tier.newWriteBatch();
        for (Found found : unmoved) {
            StoreWriteBatch.Removal removal = found.removal();
            if (removal == null || !removal.uncounts()) {
                dropped(found.item().recordKey());
                counts.shed.increment();
            } else if (residency.counts(found.keyFetch().requestedKey().epoch())) {
                writeBatch.write(found.item());
            }
        }
        writeBatch.run();
        for (StoreWriteBatch.Write write : writeBatch.writes()) {
            DemotedItem item = write.demotedItem();
            long place = ItemKey.placeOf(item.recordKey());
            if (write.refused()) {
                tier.evictor().removed(place);
                shed(item, residency);
                tier.refuse();
            } else {
                // It may have been chosen as a victim while it was absent, and the choice is then void.
                tier.evictor().inserted(place);
                tier.evictor().written(item.bytes());
                tier.accepted();
                residency.invalidateAbsence(place);
            }
        }
    }

    private void bind(Found found) {
        RequestedKey requestedKey = found.keyFetch().requestedKey();
        bind(requestedKey.recordKey(), requestedKey.database());
    }

    private void bind(byte[] recordKey, int database) {
        int length = ItemKey.lengthOf(recordKey);
        if (keyBytes.byteSize() < length) {
            keyBytes = Arena.ofAuto().allocate(2L * length);
        }
        Memory.copy(ItemKey.keyOf(recordKey), 0, keyBytes.address(), length);
        session.bind(key, database, keyBytes.address(), length);
    }

    /**
     * Restores an item while the key's shard is locked, and unlocks it. @return false if other threads have used up the
     * space
     */
    private boolean isBack(Found found, ResidencyFilter residency) {
        RequestedKey requestedKey = found.keyFetch().requestedKey();
        try {
            if (isBound(requestedKey.epoch(), requestedKey.database())) {
                restore(found.item(), found.keyFetch().isLoad());
            }
            found.keyFetch().outcome(Outcome.PROMOTED);
            // Under the lock: no other thread can have removed it from memory yet.
            partitionQueue.completeMove(found.item());
            if (found.removal() == null) {
                residency.remove(requestedKey.place(), requestedKey.epoch());
            } else {
                uncount(residency, found.removal());
            }
            return true;
        } catch (CacheFullException full) {
            return false;
        } finally {
            session.unlock(key);
        }
    }

    /**
     * Binds the key in the database with its epoch, if there is one: the database may have been swapped, or emptied.
     */
    private boolean isBound(long epoch, int likely) {
        for (int i = 0; i < cache.databaseCount(); i++) {
            int database = (likely + i) % cache.databaseCount();
            if (session.epoch(database) == epoch) {
                session.bind(key, database, key.address(), key.length());
                return true;
            }
        }
        return false;
    }

    private void restore(DemotedItem item, boolean isLoad) {
        byte[] record = item.record();
        int length = ItemRecord.valueLength(record);
        long expireAt = ItemRecord.expireAtMillis(record);
        if (session.restore(key, ItemType.ofCode(ItemRecord.type(record)), ItemRecord.encoding(record), record,
                ItemRecord.valueOffset(record), length, expireAt < 0 ? Item.NEVER : expireAt, ItemRecord.access(record),
                ItemRecord.penaltyClass(record))) {
            FlashCapture capture = tier.captures().open();
            if (capture != null && walk.isAhead(capture, item.recordKey(), record)) {
                capture.capture(item.recordKey(), record);
            }
            counts.promotions.increment();
            counts.loaded.add(isLoad ? 1 : 0);
            counts.bytesRead.add(length);
        }
    }
}
