package io.varve.flash.tier;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
import io.varve.flash.store.StoreException;
import io.varve.flash.tier.Departures.Leaving;
import io.varve.flash.tier.Fetch.Outcome;
import io.varve.flash.tier.Fetch.Wanted;
import io.varve.flash.tier.Lane.Looked;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/** Carries the items of one lane up and down. Confined to the lane's thread. */
final class Carrier {
    private static final System.Logger LOG = System.getLogger(Carrier.class.getName());
    /** What an item takes in memory beside its key and its value, at the most. */
    private static final int ITEM_OVERHEAD_BYTES = 128;
    private static final int LEAST_KEY_BYTES = 256;
    /** Records are brought back in parts of about so many bytes. */
    private static final long PART_BYTES = 1 << 20;
    /** How often room is made for an item for which there was some and is none any more. */
    private static final int MOST_TRIES = 3;
    private static final long PAUSE_AFTER_FAILURE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final FlashTier tier;
    private final Lane lane;
    private final Cache cache;
    private final CacheSession session;
    private final Counts counts;
    private final Key key = new Key();
    private boolean saidThatItFailed;
    private MemorySegment keyBytes = Arena.ofAuto().allocate(LEAST_KEY_BYTES);

    /** An item that can go back to memory. Immutable. */
    private record Found(Looked looked, Fallen item, Turn.@Nullable Removal removal) {}

    Carrier(FlashTier tier, Lane lane, Cache cache) {
        this.tier = tier;
        this.lane = lane;
        this.cache = cache;
        session = cache.newSession();
        counts = tier.counts();
    }

    /** Until the lane ends. Whatever fails, it goes on: without it who asks would wait for ever. */
    void run() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = turn();
            } catch (RuntimeException | Error failed) {
                failed(failed);
                LockSupport.parkNanos(PAUSE_AFTER_FAILURE_NANOS);
            }
        }
    }

    private void failed(Throwable failed) {
        LOG.log(saidThatItFailed ? System.Logger.Level.DEBUG : System.Logger.Level.ERROR,
                "A lane of the flash tier failed, and goes on; this is said once", failed);
        saidThatItFailed = true;
    }

    /** @return whether there may be more */
    private boolean turn() {
        Lane.Work work = lane.take();
        if (work.isEnd()) {
            return false;
        }
        Holdings holdings = tier.holdings();
        try {
            if (work.asked().isEmpty()) {
                writeDown(work.fallen(), work.leaving());
            } else {
                bringBack(work.asked());
            }
        } catch (RuntimeException | Error failed) {
            // What of it is where, nobody knows.
            work.leaving().forEach(key -> tier.departures().end(key.name()));
            tier.giveUp(holdings, failed);
        } finally {
            work.asked().forEach(this::tell);
        }
        return true;
    }

    private void tell(Looked looked) {
        for (Lane.Asked asker : looked.askers()) {
            try {
                if (!looked.isLoad()) {
                    counts.read(tier.nanoTime() - asker.sinceNanos());
                }
                asker.fetch().known();
            } catch (RuntimeException gone) {
                LOG.log(System.Logger.Level.DEBUG, "Nobody waits for what was asked for any more", gone);
            } catch (Error failed) {
                // The others are to be told all the same.
                failed(failed);
            }
        }
    }

    // --- down, and away

    private void writeDown(List<Fallen> fallen, List<Leaving> leaving) {
        Holdings holdings = tier.holdings();
        Turn turn = tier.newTurn();
        boolean room = !tier.departures().areTooMany();
        for (Fallen next : fallen) {
            if (!room) {
                shed(next, holdings);
            } else if (holdings.counts(ItemKey.epochOf(next.recordKey()))) {
                ItemRecord.seal(next.recordKey(), next.record());
                turn.write(next);
            }
        }
        if (room) {
            tier.evictor().victims(fallen.size()).forEach(victim -> tier.leave(victim, true));
        }
        List<Turn.Removal> removals = leaving.stream().map(key -> turn.remove(key.name().recordKey(), false)).toList();
        turn.run();
        for (Turn.Write write : turn.writes()) {
            Fallen next = write.fallen();
            long place = ItemKey.placeOf(next.recordKey());
            if (write.refused()) {
                shed(next, holdings);
                tier.refuse();
            } else {
                tier.evictor().inserted(place);
                tier.evictor().written(next.bytes());
                counts.written.increment();
                tier.accepted();
            }
        }
        List<Leaving> stay = new ArrayList<>();
        for (int i = 0; i < removals.size(); i++) {
            if (removals.get(i).refused()) {
                stay.add(leaving.get(i));
            } else {
                left(leaving.get(i), removals.get(i), holdings);
            }
        }
        if (!stay.isEmpty()) {
            tier.refuse();
            tier.leaveLater(lane, stay);
        }
    }

    private void shed(Fallen item, Holdings holdings) {
        holdings.left(ItemKey.placeOf(item.recordKey()), ItemKey.epochOf(item.recordKey()));
        counts.shed.increment();
    }

    private void left(Leaving key, Turn.Removal removal, Holdings holdings) {
        uncount(holdings, removal);
        if (key.evicted()) {
            counts.evictions.add(removal.done() ? 1 : 0);
        } else {
            tier.evictor().removed(ItemKey.placeOf(removal.recordKey()));
        }
        tier.departures().end(key.name());
    }

    private static void uncount(Holdings holdings, Turn.Removal removal) {
        if (removal.uncounts()) {
            holdings.left(ItemKey.placeOf(removal.recordKey()), ItemKey.epochOf(removal.recordKey()));
        }
    }

    // --- up

    /** In parts, so that no more than some of the records are on the heap at a time, and memory has room for each part. */
    private void bringBack(List<Looked> asked) {
        Holdings holdings = tier.holdings();
        session.now(tier.wallMillis());
        int next = 0;
        while (next < asked.size()) {
            Part part = new Part(tier.newTurn());
            try {
                while (next < asked.size() && part.bytes < PART_BYTES) {
                    look(asked.get(next), part, holdings);
                    next++;
                }
                bringBack(part, holdings);
            } finally {
                tier.loadingBytes().addAndGet(-part.loadingBytes);
            }
        }
    }

    private void bringBack(Part part, Holdings holdings) {
        part.turn.run();
        part.absent.forEach(looked -> looked.outcome(Outcome.ABSENT));
        part.useless.forEach((looked, removal) -> {
            looked.outcome(removal.refused() ? Outcome.NO_ROOM : Outcome.ABSENT);
            uncount(holdings, removal);
            tier.evictor().removed(ItemKey.placeOf(removal.recordKey()));
        });
        List<Found> stay = new ArrayList<>();
        for (Found found : part.found) {
            if (found.removal() != null && found.removal().refused()) {
                // It stays where it is, for nobody could say that it is not there any more.
                found.looked().outcome(Outcome.NO_ROOM);
                tier.refuse();
            } else if (!found.looked().isLoad()) {
                bringBack(found, holdings);
            } else if (!isLoaded(found, holdings)) {
                stay.add(found);
            }
        }
        putBack(stay, holdings);
    }

    /** Some of the keys that are asked for. */
    private static final class Part {
        private final Turn turn;
        private final List<Found> found = new ArrayList<>();
        private final List<Looked> absent = new ArrayList<>();
        /** Records that are past their time, or damaged. */
        private final Map<Looked, Turn.Removal> useless = new IdentityHashMap<>();
        /** Of the items found, as memory will hold them. */
        private long bytes;
        /** Of those that nobody asked for. */
        private long loadingBytes;

        Part(Turn turn) {
            this.turn = turn;
        }
    }

    private void look(Looked looked, Part part, Holdings holdings) {
        Wanted wanted = looked.wanted();
        Fallen fallen = looked.fallen();
        if (!holdings.counts(wanted.epoch())) {
            part.absent.add(looked);
            return;
        }
        byte @Nullable [] record;
        try {
            record = fallen == null ? tier.store().get(wanted.recordKey()) : fallen.record();
        } catch (StoreException unreadable) {
            if (!looked.isLoad()) {
                throw unreadable;
            }
            // Nobody has asked for it, and nothing was changed: who does is told.
            LOG.log(System.Logger.Level.DEBUG, "A record stays on flash, for it cannot be read", unreadable);
            looked.outcome(Outcome.OTHER);
            return;
        }
        if (record == null) {
            missed(looked);
            part.absent.add(looked);
            return;
        }
        if (fallen == null && !ItemRecord.isWhole(wanted.recordKey(), record)) {
            counts.corrupt.increment();
            missed(looked);
            LOG.log(System.Logger.Level.WARNING, "A record on flash is not as it was written: it counts as missing");
            part.useless.put(looked, part.turn.remove(wanted.recordKey(), true));
            return;
        }
        long expireAt = ItemRecord.expireAtMillis(record);
        if (expireAt >= 0 && session.now() > expireAt) {
            counts.expired.increment();
            missed(looked);
            if (fallen == null) {
                part.useless.put(looked, part.turn.remove(wanted.recordKey(), true));
            } else {
                part.absent.add(looked);
                holdings.left(wanted.place(), wanted.epoch());
            }
            return;
        }
        long bytes = record.length + wanted.recordKey().length + (long) ITEM_OVERHEAD_BYTES;
        Outcome kept = kept(looked, record, part, bytes);
        if (kept != null) {
            looked.outcome(kept);
            if (fallen != null) {
                fallAgain(fallen, wanted, holdings);
            }
            return;
        }
        part.bytes += bytes;
        if (!looked.isLoad()) {
            counts.hits.increment();
        }
        if (fallen != null) {
            part.found.add(new Found(looked, fallen, null));
            return;
        }
        Fallen read = new Fallen(wanted.recordKey(), record);
        lane.carry(read);
        part.found.add(new Found(looked, read, part.turn.remove(wanted.recordKey(), true)));
    }

    private void missed(Looked looked) {
        if (!looked.isLoad()) {
            counts.misses.increment();
        }
    }

    /** Why an item of so many bytes stays below; null if memory has room for it, with others of its part. */
    private @Nullable Outcome kept(Looked looked, byte[] record, Part part, long bytes) {
        if (!looked.isLoad()) {
            return cache.admit(part.bytes + bytes) ? null : Outcome.NO_ROOM;
        }
        // It may have fallen when there were more classes, before a restart: it is to be of the last. Of those there are, also while nobody tracks them.
        if (Math.min(ItemRecord.penaltyClass(record), cache.config().penalties().classes() - 1) != looked
                .loadedClass()) {
            return Outcome.OTHER;
        }
        // With what all lanes have in their hands: nobody is to go because two of them saw the same room.
        part.loadingBytes += bytes;
        long together = tier.loadingBytes().addAndGet(bytes);
        return cache.admitLoaded(looked.loadedClass(), together) ? null : Outcome.NO_ROOM;
    }

    /** What found no room in memory is below once more, as it was counted all the time. */
    private void fallAgain(Fallen fallen, Wanted wanted, Holdings holdings) {
        if (lane.fall(fallen)) {
            holdings.canBeFound(wanted.place());
        } else {
            holdings.left(wanted.place(), wanted.epoch());
            counts.shed.increment();
        }
    }

    /** The item is nowhere else any more. */
    private void bringBack(Found found, Holdings holdings) {
        for (int tries = 1; tries <= MOST_TRIES; tries++) {
            bind(found.looked().wanted());
            session.lock(key);
            if (isBack(found, holdings)) {
                // Without the shard's lock: somebody may hold the policy's while he searches the store.
                tier.evictor().hit(found.looked().wanted().place());
                return;
            }
            if (!cache.admit(found.item().bytes() + (long) ITEM_OVERHEAD_BYTES)) {
                break;
            }
        }
        found.looked().outcome(Outcome.NO_ROOM);
        Turn.Removal removal = found.removal();
        if (removal == null || removal.uncounts()) {
            fallAgain(found.item(), found.looked().wanted(), holdings);
        } else {
            counts.shed.increment();
        }
    }

    /**
     * What nobody has asked for: those who ask for other keys of the lane are not to wait for its shard.
     *
     * @return false if it goes back to the store
     */
    private boolean isLoaded(Found found, Holdings holdings) {
        bind(found.looked().wanted());
        if (!session.lockWithin(key, CacheSession.PATIENCE_NAPS, false)) {
            found.looked().outcome(Outcome.OTHER);
            return false;
        }
        if (!isBack(found, holdings)) {
            found.looked().outcome(Outcome.NO_ROOM);
            return false;
        }
        tier.evictor().removed(found.looked().wanted().place());
        return true;
    }

    /** Nobody has asked for these, so they are not to be lost because what falls has filled the lane: their records are written where they were. */
    private void putBack(List<Found> stay, Holdings holdings) {
        Turn turn = tier.newTurn();
        for (Found found : stay) {
            Turn.Removal removal = found.removal();
            if (removal == null || !removal.uncounts()) {
                counts.shed.increment();
            } else if (holdings.counts(found.looked().wanted().epoch())) {
                turn.write(found.item());
            }
        }
        turn.run();
        for (Turn.Write write : turn.writes()) {
            Fallen item = write.fallen();
            long place = ItemKey.placeOf(item.recordKey());
            if (write.refused()) {
                tier.evictor().removed(place);
                shed(item, holdings);
                tier.refuse();
            } else {
                // It may have been chosen to go while it was not there, and is forgotten then.
                tier.evictor().inserted(place);
                tier.evictor().written(item.bytes());
                tier.accepted();
                holdings.canBeFound(place);
            }
        }
    }

    private void bind(Wanted wanted) {
        byte[] recordKey = wanted.recordKey();
        int length = ItemKey.lengthOf(recordKey);
        if (keyBytes.byteSize() < length) {
            keyBytes = Arena.ofAuto().allocate(2L * length);
        }
        Memory.copy(ItemKey.keyOf(recordKey), 0, keyBytes.address(), length);
        session.bind(key, wanted.database(), keyBytes.address(), length);
    }

    /** Once the key's shard is locked, which it is not any more after this. @return false if others were faster where there was room */
    private boolean isBack(Found found, Holdings holdings) {
        Wanted wanted = found.looked().wanted();
        try {
            if (bound(wanted)) {
                restore(found.item().record(), found.looked().isLoad());
            }
            found.looked().outcome(Outcome.BROUGHT);
            // Under the lock: nobody can have taken it out of memory yet.
            lane.putDown(found.item());
            if (found.removal() == null) {
                holdings.left(wanted.place(), wanted.epoch());
            } else {
                uncount(holdings, found.removal());
            }
            return true;
        } catch (CacheFullException full) {
            return false;
        } finally {
            session.unlock(key);
        }
    }

    /** Binds the key in the database that is in its epoch, if there is one: it may have been exchanged, or emptied. */
    private boolean bound(Wanted wanted) {
        for (int i = 0; i < cache.databaseCount(); i++) {
            int database = (wanted.database() + i) % cache.databaseCount();
            if (session.epoch(database) == wanted.epoch()) {
                session.bind(key, database, key.address(), key.length());
                return true;
            }
        }
        return false;
    }

    private void restore(byte[] record, boolean isLoad) {
        int length = ItemRecord.valueLength(record);
        long expireAt = ItemRecord.expireAtMillis(record);
        if (session.restore(key, ItemType.ofCode(ItemRecord.type(record)), ItemRecord.encoding(record), record,
                ItemRecord.VALUE_OFFSET, length, expireAt < 0 ? Item.NEVER : expireAt, ItemRecord.access(record),
                ItemRecord.penaltyClass(record))) {
            counts.promotions.increment();
            counts.loaded.add(isLoad ? 1 : 0);
            counts.bytesRead.add(length);
        }
    }
}
