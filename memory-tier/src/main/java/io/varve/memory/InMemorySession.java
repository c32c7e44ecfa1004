package io.varve.memory;

import java.util.Objects;
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.tree.TreeFiller;
import io.varve.memory.eviction.PinnedKeys;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.learning.AccessRecording;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.Regions;
import io.varve.memory.report.HitMissSnapshot;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.shard.OptimisticReader;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardLocks;
import io.varve.memory.shard.ShardSet;
import io.varve.memory.shard.context.Databases;
import io.varve.memory.shard.context.PenaltyTracking;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/** The session of one thread: it hashes keys, finds their shards and delegates to them. Confined to that thread. */
final class InMemorySession implements CacheSession {
    private static final PenaltyRanges ANY_CLASS = new PenaltyRanges(PenaltyRanges.MAX_CLASSES);

    private final Shard[] shards;
    private final ShardRouter router;
    private final Databases databases;
    private final ShardContext context;
    private final AccessRecording accesses;
    private final LinePrefetcher prefetcher;
    private final KeyspaceScan keyspaceScan;
    /** Reads without a lock; null until the first, because most sessions never do, or if memory is refused. */
    private @Nullable OptimisticReader optimisticReader;
    /** Whether an optimistic read is open, and whether its end renews the item's access clock. */
    private boolean isReadingOptimistically;
    private boolean touchesReadItem;
    private long nowMillis;
    private boolean touching = true;
    private boolean notifying = true;
    private boolean deriving;
    private long changes;
    private boolean awaitingFills = true;
    /** The pinned keys; created with the first pin, because most sessions pin nothing. */
    private PinnedKeys.@Nullable Holder pins;
    /** The penalty class of written items, or AUTOMATIC. */
    private int hint = AUTOMATIC;

    InMemorySession(Shard[] shards, ShardRouter router, ShardContext context, long nowMillis) {
        this.shards = shards;
        this.router = router;
        databases = context.databases;
        this.context = context;
        accesses = new AccessRecording(context);
        prefetcher = new LinePrefetcher(shards);
        keyspaceScan = new KeyspaceScan(shards, router);
        this.nowMillis = nowMillis;
    }

    @Override
    public void now(long wallMillis) {
        nowMillis = wallMillis;
        accesses.begin();
    }

    @Override
    public long now() {
        return nowMillis;
    }

    @Override
    public long expiryMillis() {
        return context.findsExpired() ? 0 : nowMillis;
    }

    @Override
    public void touching(boolean touch) {
        touching = touch;
    }

    @Override
    public void notifying(boolean notify) {
        notifying = notify;
    }

    @Override
    public void deriving(boolean derives) {
        deriving = derives;
    }

    @Override
    public void awaitingFills(boolean await) {
        awaitingFills = await;
    }

    @Override
    public void writesInto(int penaltyClass) {
        hint = penaltyClass == AUTOMATIC ? AUTOMATIC : required(penaltyClass);
    }

    /** Checks that a class exists; while penalties are not tracked, any possible class is valid. */
    private int required(int penaltyClass) {
        PenaltyTracking tracking = context.tracking();
        return (tracking == null ? ANY_CLASS : tracking.ranges()).require(penaltyClass);
    }

    @Override
    public int penaltyClass(Item item) {
        return context.tracking() == null ? 0 : ItemLayout.penaltyClass(item.address());
    }

    @Override
    public void penaltyClass(Item item, int penaltyClass) {
        int chosen = required(penaltyClass);
        if (context.tracking() != null) {
            shardOf(item).penaltyClass(item, chosen);
        }
    }

    @Override
    public void bind(Key key, int database, long address, int length) {
        router.bind(key, database, address, length);
    }

    @Override
    public void pin(Key[] keys, int first, int count, long... more) {
        PinnedKeys.Holder holder = holder();
        if (count + more.length == 1) {
            holder.pin(count == 1 ? keys[first].hash() : more[0]);
            return;
        }
        long[] bits = holder.begin(count + more.length);
        for (int i = first; i < first + count; i++) {
            PinnedKeys.Holder.add(bits, keys[i].hash());
        }
        for (long hash : more) {
            PinnedKeys.Holder.add(bits, hash);
        }
        holder.pin(bits);
    }

    @Override
    public void pin(int count, IntToLongFunction hash) {
        PinnedKeys.Holder holder = holder();
        long[] bits = holder.begin(count);
        for (int i = 0; i < count; i++) {
            PinnedKeys.Holder.add(bits, hash.applyAsLong(i));
        }
        holder.pin(bits);
    }

    private PinnedKeys.Holder holder() {
        PinnedKeys.Holder holder = pins;
        if (holder == null) {
            holder = context.pins.newHolder();
            pins = holder;
        }
        return holder;
    }

    @Override
    public void unpin() {
        if (pins != null) {
            pins.unpin();
        }
    }

    @Override
    public void beginOverdraft() {
        context.budget.beginOverdraft();
    }

    @Override
    public void endOverdraft() {
        context.budget.endOverdraft();
    }

    @Override
    public void touch(Key[] keys, int count) {
        prefetcher.touch(keys, count);
    }

    @Override
    public void lock(Key key) {
        shards[key.shard()].lock();
    }

    @Override
    public boolean tryLock(Key key) {
        return shards[key.shard()].tryLock();
    }

    @Override
    public boolean lockWithin(Key key, int naps, boolean called) {
        return shards[key.shard()].lockWithin(naps, called);
    }

    @Override
    public void unlock(Key key) {
        shards[key.shard()].unlock();
    }

    @Override
    public boolean isLockedByMe(Key key) {
        return shards[key.shard()].isLockedByMe();
    }

    @Override
    public void lock(ShardSet set) {
        ShardLocks.lock(shards, set);
    }

    @Override
    public int lockWithin(ShardSet set, int naps, ShardSet called) {
        for (int i = set.next(0); i >= 0; i = set.next(i + 1)) {
            if (!shards[i].lockWithin(naps, called.contains(i))) {
                for (int locked = set.next(0); locked < i; locked = set.next(locked + 1)) {
                    shards[locked].unlock();
                }
                return i;
            }
        }
        return -1;
    }

    @Override
    public void onUnlock(int shard, Runnable callback) {
        shards[shard].onUnlock(callback);
    }

    @Override
    public void renewReservation(int shard) {
        shards[shard].renewReservation();
    }

    @Override
    public void cancelReservation(int shard) {
        shards[shard].cancelReservation();
    }

    @Override
    public boolean isFree(int shard) {
        return shards[shard].isFree();
    }

    @Override
    public boolean isLocked(int shard) {
        return shards[shard].isLocked();
    }

    @Override
    public void unlock(ShardSet set) {
        for (int i = set.next(0); i >= 0; i = set.next(i + 1)) {
            shards[i].unlock();
        }
    }

    @Override
    public boolean beginOptimisticRead(Key key) {
        assert !isReadingOptimistically : "an optimistic read is open";
        // A policy that counts accesses has to write each of them to the item.
        if (accesses.isRecording() || context.tracking() != null || context.evictionPolicy().countsAccesses()) {
            return false;
        }
        OptimisticReader reader = optimisticReader == null ? newOptimisticReader() : optimisticReader;
        isReadingOptimistically = reader != null && reader.copy(shards[key.shard()], key);
        return isReadingOptimistically;
    }

    /** Creates the reader; null if the system refuses its memory. */
    private @Nullable OptimisticReader newOptimisticReader() {
        long buffer = context.regions.allocate(Regions.MIN_BYTES);
        if (buffer != 0) {
            optimisticReader = new OptimisticReader(context, buffer);
        }
        return optimisticReader;
    }

    @Override
    public boolean confirmOptimisticRead() {
        OptimisticReader reader = reader();
        // The event of a miss has its place among the key's other events only under the lock.
        isReadingOptimistically = reader.confirm(nowMillis)
                && (reader.isFound() || !notifying || !context.hearsMisses());
        return isReadingOptimistically;
    }

    private OptimisticReader reader() {
        assert isReadingOptimistically : "no optimistic read is open";
        return Objects.requireNonNull(optimisticReader);
    }

    @Override
    public void endOptimisticRead() {
        OptimisticReader reader = reader();
        boolean touches = touchesReadItem;
        touchesReadItem = false;
        isReadingOptimistically = false;
        if (touches) {
            reader.touch(nowMillis);
        }
    }

    private boolean findInCopy(Key key, Item item) {
        boolean found = reader().find(key, item);
        touchesReadItem |= found && touching;
        accesses.countRead(key, found && touching);
        return found;
    }

    @Override
    public boolean find(Key key, Item item) {
        if (isReadingOptimistically) {
            return findInCopy(key, item);
        }
        Shard shard = shards[key.shard()];
        if (deriving) {
            shard.aboutToChange(key);
        }
        boolean found = shard.find(key, item, nowMillis, touching, awaitingFills);
        if (!found && notifying) {
            shard.notifyMissed(key);
        }
        if (touching) {
            accesses.read(shard, key, item, found, nowMillis);
            accesses.countRead(key, found);
        }
        return found;
    }

    @Override
    public void note(ShardSet set, HitMissSnapshot snapshot) {
        for (int i = set.next(0); i >= 0; i = set.next(i + 1)) {
            snapshot.note(i, shards[i].hits(), shards[i].misses());
        }
    }

    @Override
    public void forgetSince(ShardSet set, HitMissSnapshot snapshot) {
        for (int i = set.next(0); i >= 0; i = set.next(i + 1)) {
            shards[i].counted(snapshot.hits(i), snapshot.misses(i));
        }
    }

    @Override
    public boolean findForWriting(Key key, Item item) {
        assert !isReadingOptimistically : "an optimistic read changes nothing";
        Shard shard = changing(key);
        boolean found = shard.findForWriting(key, item, nowMillis, touching);
        if (found && touching) {
            shard.penalties().writtenInPlace(item);
            accesses.write(shard, key, item, nowMillis);
        }
        return found;
    }

    @Override
    public boolean peek(Key key, Item item) {
        if (isReadingOptimistically) {
            return reader().peek(key, item);
        }
        if (deriving) {
            shards[key.shard()].aboutToChange(key);
        }
        return shards[key.shard()].peek(key, item, nowMillis);
    }

    @Override
    public long idleMillis(Item item) {
        return shardOf(item).access().idleMillis(item, nowMillis);
    }

    @Override
    public int frequency(Item item) {
        return shardOf(item).access().frequency(item, nowMillis);
    }

    @Override
    public void access(Item item, long idleSeconds, int frequency) {
        shardOf(item).access().set(item, idleSeconds, frequency, nowMillis);
    }

    @Override
    public boolean pinItem(Item item, long maxPinnedBytes) {
        return shardOf(item).pins().pin(item, maxPinnedBytes);
    }

    @Override
    public boolean unpinItem(Item item) {
        return shardOf(item).pins().unpin(item);
    }

    @Override
    public boolean isPinned(Item item) {
        return ItemLayout.isPinned(item.address());
    }

    @Override
    public long memoryUsage(Item item) {
        return shardOf(item).memoryUsage(item);
    }

    @Override
    public @Nullable ValueRun runOf(Item item) {
        return shardOf(item).largeValues().runOf(item);
    }

    @Override
    public void put(Key key, Item item, ItemType type, int encoding, int valueLength, int capacity,
            long expireAtMillis) {
        Shard shard = changing(key);
        shard.put(key, item, type, encoding, valueLength, capacity, expireAtMillis, hint, nowMillis, notifying);
        accesses.made(shard, key, item, nowMillis);
    }

    @Override
    public void set(Key key, ItemType type, int encoding, long valueAddress, int valueLength, long expireAtMillis) {
        Shard shard = changing(key);
        long written = shard.set(key, type, encoding, valueAddress, valueLength, expireAtMillis, hint, nowMillis);
        accesses.made(shard, key, written, valueLength, nowMillis);
        changes++;
        shard.changed(Change.SET, key.database(), key.address(), key.length());
    }

    @Override
    public void putRun(Key key, Item item, ValueRun run, int encoding, long expireAtMillis) {
        Shard shard = changing(key);
        shard.largeValues().put(key, item, (LargeRun) run, encoding, expireAtMillis, hint, nowMillis);
        accesses.made(shard, key, item, nowMillis);
        changes++;
        shard.changed(Change.SET, key.database(), key.address(), key.length());
    }

    @Override
    public long epoch(int database) {
        return databases.epoch(database);
    }

    @Override
    public boolean restore(Key key, ItemType type, int encoding, byte[] value, int from, int valueLength,
            long expireAtMillis, int access, int penaltyClass) {
        return changing(key).restore(key, type, encoding, value, from, valueLength, expireAtMillis, access,
                penaltyClass, nowMillis);
    }

    @Override
    public void dropped(Key key) {
        shards[key.shard()].changed(Change.DROPPED, key.database(), key.address(), key.length());
    }

    @Override
    public int headroom(int keyLength) {
        return ItemLayout.largeHeadroom(keyLength);
    }

    @Override
    public void resize(Key key, Item item, int encoding, int valueLength, int capacity) {
        changing(key).resize(key, item, encoding, valueLength, capacity, nowMillis);
    }

    @Override
    public void encoding(Key key, Item item, int encoding) {
        changing(key).encoding(item, encoding);
    }

    @Override
    public void changed(Key key, Change change) {
        assert shards[key.shard()].isCaptured(key) : "a change that no point-in-time scan has seen coming";
        changes++;
        shards[key.shard()].changed(change, key.database(), key.address(), key.length());
    }

    @Override
    public long changes() {
        return changes;
    }

    @Override
    public boolean delete(Key key) {
        boolean deleted = changing(key).delete(key, nowMillis);
        if (deleted) {
            changes++;
        } else {
            accesses.deletedAbsent(key, nowMillis);
        }
        return deleted;
    }

    @Override
    public void expire(Key key, Item item, long expireAtMillis) {
        Shard shard = changing(key);
        shard.keyExpiry().expire(key, item, expireAtMillis, nowMillis);
        accesses.expires(key, item, expireAtMillis, nowMillis);
        changes++;
        shard.changed(expireAtMillis == Item.NEVER ? Change.PERSISTED : Change.EXPIRY_SET, key.database(),
                key.address(), key.length());
    }

    @Override
    public void keepFieldTimes(Key key, Item item, long earliestMillis) {
        changing(key).collections().keepFieldTimes(key, item, earliestMillis, nowMillis);
    }

    @Override
    public void forgetFieldTimes(Key key, Item item) {
        changing(key).collections().forgetFieldTimes(key, item, nowMillis);
    }

    @Override
    public long changesAtMillis(Item item) {
        return shardOf(item).collections().changesAtMillis(item, expiryMillis());
    }

    @Override
    public void open(Key key, Item item, CollectionTree tree) {
        assert !isReadingOptimistically : "an optimistic read has no trees";
        shards[key.shard()].collections().open(item, tree, expiryMillis());
    }

    @Override
    public void makeTree(Key key, Item item, CollectionTree tree, long expireAtMillis, TreeFiller filler) {
        Shard shard = changing(key);
        shard.collections().make(key, item, tree, expireAtMillis, filler, hint, nowMillis);
        accesses.made(shard, key, item, nowMillis);
    }

    @Override
    public void moveTree(Key from, Item item, Key to, Item written, long expireAtMillis) {
        shards[from.shard()].aboutToChange(from);
        Shard shard = changing(to);
        if (from.shard() == to.shard()) {
            shard.collections().move(from, item, to, written, expireAtMillis, hint, nowMillis);
            changes++;
            accesses.made(shard, to, written, nowMillis);
            return;
        }
        copyTree(from, item, to, written, expireAtMillis);
        boolean deleted = shards[from.shard()].delete(from, nowMillis);
        assert deleted : "the key does not exist";
    }

    @Override
    public boolean moveRun(Key from, Item item, Key to, Item written) {
        shards[from.shard()].aboutToChange(from);
        Shard target = changing(to);
        if (!shards[from.shard()].largeValues().move(from, item, target, to, written, hint, nowMillis, notifying)) {
            return false;
        }
        changes++;
        target.changed(Change.SET, to.database(), to.address(), to.length());
        accesses.made(target, to, written, nowMillis);
        return true;
    }

    @Override
    public void copyTree(Key from, Item item, Key to, Item written, long expireAtMillis) {
        Shard shard = changing(to);
        shard.collections().copy(shards[from.shard()].collections(), item, to, written, expireAtMillis, hint,
                nowMillis);
        changes++;
        shard.changed(Change.SET, to.database(), to.address(), to.length());
        accesses.made(shard, to, written, nowMillis);
    }

    @Override
    public long scan(int database, long cursor, int count, ItemVisitor visitor) {
        return keyspaceScan.scan(database, cursor, count, nowMillis, visitor);
    }

    @Override
    public long scanSlots(int database, int slot, IntPredicate wanted, long cursor, ItemVisitor visitor) {
        return keyspaceScan.scanSlots(database, slot, wanted, cursor, nowMillis, visitor);
    }

    @Override
    public boolean random(int database, ItemVisitor visitor) {
        return keyspaceScan.random(database, nowMillis, visitor);
    }

    /** The shard of a key that is about to change. */
    private Shard changing(Key key) {
        Shard shard = shards[key.shard()];
        shard.aboutToChange(key);
        return shard;
    }

    private Shard shardOf(Item item) {
        return shards[router.shard(item.keyAddress(), item.keyLength())];
    }
}
