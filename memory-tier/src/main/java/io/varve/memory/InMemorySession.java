package io.varve.memory;

import java.util.SplittableRandom;
import java.util.function.IntToLongFunction;

import io.varve.memory.collection.CollectionTree;
import io.varve.memory.collection.TreeFiller;
import io.varve.memory.eviction.PinnedKeys;
import io.varve.memory.index.Index;
import io.varve.memory.index.KeyHash;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.segment.LargeRun;
import io.varve.memory.shard.Databases;
import io.varve.memory.shard.PenaltyTracking;
import io.varve.memory.shard.Shard;
import io.varve.memory.shard.ShardContext;
import org.jspecify.annotations.Nullable;

/** The door for one thread: hashes keys, finds their shard, and hands on. Confined to that thread. */
final class InMemorySession implements CacheSession {
    /** Index buckets visited under one hold of a shard's lock. */
    private static final int BUCKETS_PER_HOLD = 16;
    /** Empty index buckets a scan passes over for each item it was asked for, as in Redis. */
    private static final long BUCKETS_PER_COUNT = 10;
    private static final int RANDOM_TRIES = 100;
    private static final PenaltyRanges ANY_CLASS = new PenaltyRanges(PenaltyRanges.MOST);
    /** Keys whose cache lines are read ahead together: as many as a batch has commands. */
    private static final int TOUCHED_AT_ONCE = 128;
    private static final int LINE_BYTES = 64;
    private static final int MOST_LINES = 4;

    private final Shard[] shards;
    private final ShardRouter router;
    private final KeyHash keyHash;
    private final Databases databases;
    private final ShardContext context;
    private final AccessRecording accesses;
    private final SplittableRandom random = new SplittableRandom();
    private final Item visited = new Item();
    private final long[] ahead = new long[TOUCHED_AT_ONCE];
    private final long[] furtherAhead = new long[TOUCHED_AT_ONCE * MOST_LINES];
    /** Where the results of reading ahead go, so that the compiler keeps the reads. */
    private long touched;
    private long nowMillis;
    private boolean touching = true;
    private boolean telling = true;
    private boolean awaitingFills = true;
    /** What is pinned; made when the first is, as most sessions pin nothing. */
    private PinnedKeys.@Nullable Holder pins;
    /** The class of penalty of what is written, or AUTOMATIC. */
    private int hint = AUTOMATIC;

    InMemorySession(Shard[] shards, ShardRouter router, ShardContext context, long nowMillis) {
        this.shards = shards;
        this.router = router;
        keyHash = context.keyHash();
        databases = context.databases();
        this.context = context;
        accesses = new AccessRecording(context);
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
    public void touching(boolean touch) {
        touching = touch;
    }

    @Override
    public void telling(boolean tell) {
        telling = tell;
    }

    @Override
    public void awaitingFills(boolean await) {
        awaitingFills = await;
    }

    @Override
    public void writesInto(int penaltyClass) {
        hint = penaltyClass == AUTOMATIC ? AUTOMATIC : required(penaltyClass);
    }

    /** A class that there is; any that could be while penalties are not tracked. */
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
        long hash = keyHash.hash(address, length);
        key.bind(address, length, hash, router.shard(hash), database);
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
            holder = context.pins().newHolder();
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
        context.budget().beginOverdraft();
    }

    @Override
    public void endOverdraft() {
        context.budget().endOverdraft();
    }

    @Override
    public void touch(Key[] keys, int count) {
        for (int from = 0; from < count; from += TOUCHED_AT_ONCE) {
            touch(keys, from, Math.min(TOUCHED_AT_ONCE, count - from));
        }
    }

    /**
     * Addresses are computed in one loop and read in the next: a core waits for a read only when it has come so many
     * instructions further as it can hold back, so the less there is between two reads, the more of them overlap.
     */
    private void touch(Key[] keys, int from, int count) {
        long[] addresses = ahead;
        for (int i = 0; i < count; i++) {
            Key key = keys[from + i];
            addresses[i] = shards[key.shard()].indexLine(key);
        }
        long sum = touched + read(addresses, count);
        for (int i = 0; i < count; i++) {
            Key key = keys[from + i];
            addresses[i] = shards[key.shard()].suggestedItem(key);
        }
        sum += read(addresses, count);
        int further = 0;
        for (int i = 0; i < count; i++) {
            further = furtherLines(addresses[i], further);
        }
        sum += read(furtherAhead, further);
        touched = sum;
    }

    private static long read(long[] addresses, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += Memory.peekLong(addresses[i]);
        }
        return sum;
    }

    /**
     * Notes where an item goes on after its first line, for a few lines: by then the core sees by itself where it goes. For
     * one of a single line that is its end, because a read that hits costs less than a branch that is not foreseen.
     */
    private int furtherLines(long address, int noted) {
        int count = noted;
        int last = Math.min(ItemLayout.peekSize(address), MOST_LINES * LINE_BYTES) - Long.BYTES;
        int offset = LINE_BYTES;
        do {
            furtherAhead[count++] = address + Math.min(offset, last);
            offset += LINE_BYTES;
        } while (offset <= last);
        return count;
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
    public void lock(ShardSet set) {
        for (int i = set.next(0); i >= 0; i = set.next(i + 1)) {
            shards[i].lock();
        }
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
    public void want(int shard, Runnable call) {
        shards[shard].want(call);
    }

    @Override
    public void keepReserved(int shard) {
        shards[shard].keepReserved();
    }

    @Override
    public void forgo(int shard) {
        shards[shard].forgo();
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
    public boolean find(Key key, Item item) {
        Shard shard = shards[key.shard()];
        boolean found = shard.find(key, item, nowMillis, touching, awaitingFills);
        if (!found && telling) {
            shard.tellMissed(key);
        }
        if (touching) {
            accesses.read(shard, key, item, found, nowMillis);
        }
        return found;
    }

    @Override
    public void note(ShardSet set, Looks looks) {
        for (int i = set.next(0); i >= 0; i = set.next(i + 1)) {
            looks.note(i, shards[i].hits(), shards[i].misses());
        }
    }

    @Override
    public void forgetSince(ShardSet set, Looks looks) {
        for (int i = set.next(0); i >= 0; i = set.next(i + 1)) {
            shards[i].counted(looks.hits(i), looks.misses(i));
        }
    }

    @Override
    public boolean findForWriting(Key key, Item item) {
        Shard shard = shards[key.shard()];
        boolean found = shard.findForWriting(key, item, nowMillis, touching);
        if (found && touching) {
            shard.penalties().wrote(item);
            accesses.write(shard, key, item, nowMillis);
        }
        return found;
    }

    @Override
    public boolean peek(Key key, Item item) {
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
    public long memoryUsage(Item item) {
        return shardOf(item).memoryUsage(item);
    }

    @Override
    public @Nullable ValueRun runOf(Item item) {
        return shardOf(item).runOf(item);
    }

    @Override
    public void put(Key key, Item item, ItemType type, int encoding, int valueLength, int capacity,
            long expireAtMillis) {
        Shard shard = shards[key.shard()];
        shard.put(key, item, type, encoding, valueLength, capacity, expireAtMillis, hint, nowMillis, telling);
        accesses.made(shard, key, item, nowMillis);
    }

    @Override
    public void set(Key key, ItemType type, int encoding, long valueAddress, int valueLength, long expireAtMillis) {
        Shard shard = shards[key.shard()];
        long written = shard.set(key, type, encoding, valueAddress, valueLength, expireAtMillis, hint, nowMillis);
        accesses.made(shard, key, written, valueLength, nowMillis);
        shard.changed(Change.SET, key.database(), key.address(), key.length());
    }

    @Override
    public void putRun(Key key, Item item, ValueRun run, int encoding, long expireAtMillis) {
        Shard shard = shards[key.shard()];
        shard.putRun(key, item, (LargeRun) run, encoding, expireAtMillis, hint, nowMillis);
        accesses.made(shard, key, item, nowMillis);
        shard.changed(Change.SET, key.database(), key.address(), key.length());
    }

    @Override
    public long epoch(int database) {
        return databases.epoch(database);
    }

    @Override
    public boolean restore(Key key, ItemType type, int encoding, byte[] value, int from, int valueLength,
            long expireAtMillis, int access, int penaltyClass) {
        return shards[key.shard()].restore(key, type, encoding, value, from, valueLength, expireAtMillis, access,
                penaltyClass, nowMillis);
    }

    @Override
    public int headRoom(int keyLength) {
        return ItemLayout.largeHeadRoom(keyLength);
    }

    @Override
    public void resize(Key key, Item item, int encoding, int valueLength, int capacity) {
        shards[key.shard()].resize(key, item, encoding, valueLength, capacity, nowMillis);
    }

    @Override
    public void encoding(Key key, Item item, int encoding) {
        shards[key.shard()].encoding(item, encoding);
    }

    @Override
    public void changed(Key key, Change change) {
        shards[key.shard()].changed(change, key.database(), key.address(), key.length());
    }

    @Override
    public boolean delete(Key key) {
        boolean deleted = shards[key.shard()].delete(key, nowMillis);
        if (!deleted) {
            accesses.deletedNothing(key, nowMillis);
        }
        return deleted;
    }

    @Override
    public void expire(Key key, Item item, long expireAtMillis) {
        Shard shard = shards[key.shard()];
        shard.expire(key, item, expireAtMillis, nowMillis);
        accesses.expires(key, item, expireAtMillis, nowMillis);
        shard.changed(expireAtMillis == Item.NEVER ? Change.PERSISTED : Change.EXPIRY_SET, key.database(),
                key.address(), key.length());
    }

    @Override
    public void keepFieldTimes(Key key, Item item, long earliestMillis) {
        shards[key.shard()].collections().keepFieldTimes(key, item, earliestMillis, nowMillis);
    }

    @Override
    public void forgetFieldTimes(Key key, Item item) {
        shards[key.shard()].collections().forgetFieldTimes(key, item, nowMillis);
    }

    @Override
    public long changesAtMillis(Item item) {
        return shardOf(item).collections().changesAtMillis(item, nowMillis);
    }

    @Override
    public void open(Key key, Item item, CollectionTree tree) {
        shards[key.shard()].collections().open(item, tree, nowMillis);
    }

    @Override
    public void makeTree(Key key, Item item, CollectionTree tree, long expireAtMillis, TreeFiller filler) {
        Shard shard = shards[key.shard()];
        shard.collections().make(key, item, tree, expireAtMillis, filler, hint, nowMillis);
        accesses.made(shard, key, item, nowMillis);
    }

    @Override
    public void moveTree(Key from, Item item, Key to, Item written, long expireAtMillis) {
        Shard shard = shards[to.shard()];
        if (from.shard() == to.shard()) {
            shard.collections().move(from, item, to, written, expireAtMillis, hint, nowMillis);
            accesses.made(shard, to, written, nowMillis);
            return;
        }
        copyTree(from, item, to, written, expireAtMillis);
        boolean deleted = shards[from.shard()].delete(from, nowMillis);
        assert deleted : "the key has gone";
    }

    @Override
    public boolean moveRun(Key from, Item item, Key to, Item written) {
        Shard target = shards[to.shard()];
        if (!shards[from.shard()].largeValues().move(from, item, target, to, written, hint, nowMillis, telling)) {
            return false;
        }
        target.changed(Change.SET, to.database(), to.address(), to.length());
        accesses.made(target, to, written, nowMillis);
        return true;
    }

    @Override
    public void copyTree(Key from, Item item, Key to, Item written, long expireAtMillis) {
        Shard shard = shards[to.shard()];
        shard.collections().copy(shards[from.shard()].collections(), item, to, written, expireAtMillis, hint,
                nowMillis);
        shard.changed(Change.SET, to.database(), to.address(), to.length());
        accesses.made(shard, to, written, nowMillis);
    }

    @Override
    public long scan(int database, long cursor, int count, ItemVisitor visitor) {
        int shardBits = router.shardBits();
        long bucketsLeft = Math.max(BUCKETS_PER_HOLD, count * BUCKETS_PER_COUNT);
        long[] visits = {0};
        long at = cursor;
        do {
            int number = (int) (at & shards.length - 1);
            Shard shard = shards[number];
            long inIndex = at >>> shardBits;
            shard.lock();
            try {
                for (int i = 0; i < BUCKETS_PER_HOLD && visits[0] < count; i++) {
                    inIndex = shard.keyspace().scan(database, inIndex, nowMillis, location -> {
                        shard.keyspace().lookAt(location, visited);
                        visitor.visit(visited);
                        visits[0]++;
                    });
                    bucketsLeft--;
                    if (inIndex == 0) {
                        break;
                    }
                }
            } finally {
                shard.unlock();
            }
            if (inIndex != 0) {
                at = inIndex << shardBits | number;
            } else if (number + 1 < shards.length) {
                at = number + 1L;
            } else {
                return 0;
            }
        } while (visits[0] < count && bucketsLeft > 0);
        return at;
    }

    @Override
    public boolean random(int database, ItemVisitor visitor) {
        for (int tries = 0; tries < RANDOM_TRIES; tries++) {
            int number = randomShard(database);
            if (number < 0) {
                return false;
            }
            Shard shard = shards[number];
            shard.lock();
            try {
                long location = shard.keyspace().random(database, nowMillis);
                if (location != Index.NONE) {
                    shard.keyspace().lookAt(location, visited);
                    visitor.visit(visited);
                    return true;
                }
            } finally {
                shard.unlock();
            }
        }
        return false;
    }

    /** A shard drawn with the weight of its items, or -1 if none has any. */
    private int randomShard(int database) {
        long total = 0;
        int chosen = -1;
        for (int i = 0; i < shards.length; i++) {
            shards[i].lock();
            long size;
            try {
                size = shards[i].keyspace().size(database);
            } finally {
                shards[i].unlock();
            }
            total += size;
            if (size > 0 && random.nextLong(total) < size) {
                chosen = i;
            }
        }
        return chosen;
    }

    private Shard shardOf(Item item) {
        return shards[router.shard(keyHash.hash(item.keyAddress(), item.keyLength()))];
    }
}
