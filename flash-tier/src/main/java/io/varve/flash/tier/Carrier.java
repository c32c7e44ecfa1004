package io.varve.flash.tier;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import io.varve.flash.record.ItemKey;
import io.varve.flash.record.ItemRecord;
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

    private final FlashTier tier;
    private final Lane lane;
    private final Cache cache;
    private final CacheSession session;
    private final Counts counts;
    private final Key key = new Key();
    private MemorySegment keyBytes = Arena.ofAuto().allocate(LEAST_KEY_BYTES);

    /** An item that can go back to memory. Immutable. */
    private record Found(Wanted wanted, Fallen item, Turn.@Nullable Removal removal) {}

    Carrier(FlashTier tier, Lane lane, Cache cache) {
        this.tier = tier;
        this.lane = lane;
        this.cache = cache;
        session = cache.newSession();
        counts = tier.counts();
    }

    void run() {
        while (true) {
            Lane.Work work = lane.take();
            if (work.isEnd()) {
                return;
            }
            if (work.asked().isEmpty()) {
                writeDown(work.fallen());
            } else {
                bringBack(work.asked());
            }
        }
    }

    // --- down

    private void writeDown(List<Fallen> fallen) {
        Holdings holdings = tier.holdings();
        Turn turn = tier.newTurn();
        try {
            for (Fallen next : fallen) {
                ItemRecord.seal(next.recordKey(), next.record());
                turn.write(next);
            }
            tier.evictor().victims(fallen.size()).forEach(turn::evict);
            turn.run();
        } catch (RuntimeException | Error failed) {
            // What of it is there, nobody knows.
            tier.giveUp(holdings, failed);
            return;
        }
        for (Turn.Write write : turn.writes()) {
            Fallen next = write.fallen();
            long place = ItemKey.placeOf(next.recordKey());
            if (write.refused()) {
                holdings.left(place, ItemKey.epochOf(next.recordKey()));
                counts.shed.increment();
                tier.refuse();
            } else {
                tier.evictor().inserted(place);
                tier.evictor().written(next.bytes());
                counts.written.increment();
                tier.accepted();
            }
        }
        for (Turn.Removal removal : turn.removals()) {
            uncount(holdings, removal);
            counts.evictions.add(removal.done() ? 1 : 0);
        }
    }

    private static void uncount(Holdings holdings, Turn.Removal removal) {
        if (removal.uncounts()) {
            holdings.left(ItemKey.placeOf(removal.recordKey()), ItemKey.epochOf(removal.recordKey()));
        }
    }

    // --- up

    private void bringBack(List<Looked> asked) {
        Holdings holdings = tier.holdings();
        try {
            session.now(tier.wallMillis());
            Turn turn = tier.newTurn();
            List<Found> found = new ArrayList<>();
            List<Turn.Removal> useless = new ArrayList<>();
            for (Looked looked : asked) {
                look(looked, turn, found, useless);
            }
            // Though nothing may have been found: what somebody else took out is handed over before anybody is told that it is gone.
            turn.run();
            useless.forEach(removal -> uncount(holdings, removal));
            for (Found next : found) {
                bringBack(next, holdings);
            }
        } catch (RuntimeException | Error failed) {
            tier.giveUp(holdings, failed);
        } finally {
            for (Looked looked : asked) {
                counts.read(tier.nanoTime() - looked.asked().sinceNanos());
                looked.asked().fetch().known();
            }
        }
    }

    private void look(Looked looked, Turn turn, List<Found> found, List<Turn.Removal> useless) {
        Wanted wanted = looked.asked().wanted();
        Fallen fallen = looked.fallen();
        byte @Nullable [] record = fallen == null ? tier.store().get(wanted.recordKey()) : fallen.record();
        if (record == null) {
            counts.misses.increment();
            turn.keepOut(wanted.recordKey());
            return;
        }
        if (fallen == null && !ItemRecord.isWhole(wanted.recordKey(), record)) {
            counts.corrupt.increment();
            counts.misses.increment();
            LOG.log(System.Logger.Level.WARNING, "A record on flash is not as it was written: it counts as missing");
            useless.add(turn.invalidate(wanted.recordKey()));
            return;
        }
        long expireAt = ItemRecord.expireAtMillis(record);
        if (expireAt >= 0 && session.now() > expireAt) {
            counts.expired.increment();
            counts.misses.increment();
            if (fallen == null) {
                useless.add(turn.invalidate(wanted.recordKey()));
            } else {
                tier.holdings().left(wanted.place(), wanted.epoch());
            }
            return;
        }
        if (!cache.admit(record.length + wanted.recordKey().length + (long) ITEM_OVERHEAD_BYTES)) {
            wanted.outcome(Outcome.NO_ROOM);
            if (fallen != null) {
                fallAgain(fallen, wanted);
            }
            return;
        }
        counts.hits.increment();
        if (fallen != null) {
            found.add(new Found(wanted, fallen, null));
            return;
        }
        Fallen read = new Fallen(wanted.recordKey(), record);
        lane.carry(read);
        found.add(new Found(wanted, read, turn.invalidate(wanted.recordKey())));
    }

    /** What found no room in memory is below once more. */
    private void fallAgain(Fallen fallen, Wanted wanted) {
        if (!lane.fall(fallen)) {
            tier.holdings().left(wanted.place(), wanted.epoch());
            counts.shed.increment();
        }
    }

    /** The item is nowhere else any more. */
    private void bringBack(Found found, Holdings holdings) {
        Wanted wanted = found.wanted();
        byte[] recordKey = wanted.recordKey();
        int length = ItemKey.lengthOf(recordKey);
        if (keyBytes.byteSize() < length) {
            keyBytes = Arena.ofAuto().allocate(2L * length);
        }
        Memory.copy(ItemKey.keyOf(recordKey), 0, keyBytes.address(), length);
        session.bind(key, wanted.database(), keyBytes.address(), length);
        boolean back = false;
        session.lock(key);
        try {
            if (bound(wanted)) {
                restore(found.item().record(), wanted);
                back = true;
            }
            if (found.removal() == null) {
                holdings.left(wanted.place(), wanted.epoch());
            } else {
                uncount(holdings, found.removal());
            }
        } catch (CacheFullException full) {
            // Others were faster where there was room. It may go: a cache has lost an item that it had no room for.
            wanted.outcome(Outcome.NO_ROOM);
            if (found.removal() == null || found.removal().uncounts()) {
                holdings.left(wanted.place(), wanted.epoch());
            }
            counts.shed.increment();
        } finally {
            session.unlock(key);
        }
        if (back) {
            // Without the shard's lock: somebody may hold the policy's while he searches the store.
            tier.evictor().hit(wanted.place());
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

    private void restore(byte[] record, Wanted wanted) {
        int length = ItemRecord.valueLength(record);
        long expireAt = ItemRecord.expireAtMillis(record);
        if (session.restore(key, ItemType.ofCode(ItemRecord.type(record)), ItemRecord.encoding(record), record,
                ItemRecord.VALUE_OFFSET, length, expireAt < 0 ? Item.NEVER : expireAt, ItemRecord.access(record))) {
            counts.promotions.increment();
            counts.bytesRead.add(length);
        }
        wanted.outcome(Outcome.BROUGHT);
    }
}
