package io.varve.memory.testing;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.shard.ShardSet;
import org.jspecify.annotations.Nullable;

import static java.nio.charset.StandardCharsets.UTF_8;

/** A cache with methods for byte arrays. Confined to one thread. */
public final class CacheFixture implements AutoCloseable {
    private static final int BUFFER_BYTES = 4 << 20;

    public final Cache cache;
    public final CacheSession session;
    public final Item item = new Item();
    public final Key key = new Key();
    private final Arena arena = Arena.ofConfined();
    private final long keyBuffer;
    private final long valueBuffer;

    public CacheFixture(Cache cache) {
        this.cache = cache;
        this.session = cache.newSession();
        keyBuffer = buffer();
        valueBuffer = buffer();
    }

    private long buffer() {
        long address = arena.allocate(BUFFER_BYTES, 64).address();
        LiveRanges.add(address, BUFFER_BYTES);
        return address;
    }

    public static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    public void now() {
        session.now(cache.config().ticker().wallMillis());
    }

    public Key bind(int database, byte[] name) {
        Memory.copy(name, 0, keyBuffer, name.length);
        session.bind(key, database, keyBuffer, name.length);
        return key;
    }

    public void set(int database, byte[] name, byte[] value, long expireAtMillis) {
        now();
        bind(database, name);
        Memory.copy(value, 0, valueBuffer, value.length);
        session.lock(key);
        try {
            session.set(key, ItemType.STRING, 0, valueBuffer, value.length, expireAtMillis);
        } finally {
            session.unlock(key);
        }
    }

    public boolean restore(int database, byte[] name, ItemType type, int encoding, byte[] value, int from,
            long expireAtMillis, int access) {
        return restore(database, name, type, encoding, value, from, expireAtMillis, access,
                CacheSession.UNKNOWN_CLASS);
    }

    public boolean restore(int database, byte[] name, ItemType type, int encoding, byte[] value, int from,
            long expireAtMillis, int access, int penaltyClass) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            return session.restore(key, type, encoding, value, from, value.length - from, expireAtMillis, access,
                    penaltyClass);
        } finally {
            session.unlock(key);
        }
    }

    /** Reads a present item, under its lock. */
    public void withItem(int database, byte[] name, Consumer<Item> look) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            if (!session.peek(key, item)) {
                throw new AssertionError("not there");
            }
            look.accept(item);
        } finally {
            session.unlock(key);
        }
    }

    public void putRun(int database, byte[] name, ValueRun run, long expireAtMillis) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            session.putRun(key, item, run, 0, expireAtMillis);
        } finally {
            session.unlock(key);
        }
    }

    /**
     * Gives the memory of a large item to another key; null if it is not there, false if it is in no memory of its own.
     */
    public @Nullable Boolean moveRun(int fromDatabase, byte[] from, int toDatabase, byte[] to) {
        now();
        bind(fromDatabase, from);
        long toBuffer = keyBuffer + from.length;
        Memory.copy(to, 0, toBuffer, to.length);
        Key target = new Key();
        session.bind(target, toDatabase, toBuffer, to.length);
        ShardSet shards = new ShardSet(cache.shardCount());
        shards.add(key.shard());
        shards.add(target.shard());
        session.lock(shards);
        try {
            return session.peek(key, item) ? session.moveRun(key, item, target, new Item()) : null;
        } finally {
            session.unlock(shards);
        }
    }

    public byte @Nullable [] get(int database, byte[] name) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            return session.find(key, item) ? Memory.toArray(item.valueAddress(), item.valueLength()) : null;
        } finally {
            session.unlock(key);
        }
    }

    /** The expiry time, NEVER, or null if the key is not there. */
    public @Nullable Long expireAt(int database, byte[] name) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            return session.peek(key, item) ? item.expireAtMillis() : null;
        } finally {
            session.unlock(key);
        }
    }

    public boolean expire(int database, byte[] name, long expireAtMillis) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            if (!session.peek(key, item)) {
                return false;
            }
            session.expire(key, item, expireAtMillis);
            return true;
        } finally {
            session.unlock(key);
        }
    }

    /** Makes the value {@code newLength} long, filling what is new with {@code fill}. */
    public boolean resize(int database, byte[] name, int newLength, int capacity, byte fill) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            if (!session.peek(key, item)) {
                return false;
            }
            int old = item.valueLength();
            session.resize(key, item, 0, newLength, Math.max(newLength, capacity));
            if (newLength > old) {
                Memory.fill(item.valueAddress() + old, newLength - old, fill);
            }
            session.changed(key, Change.SET);
            return true;
        } finally {
            session.unlock(key);
        }
    }

    public boolean delete(int database, byte[] name) {
        now();
        bind(database, name);
        session.lock(key);
        try {
            return session.delete(key);
        } finally {
            session.unlock(key);
        }
    }

    public List<byte[]> scanAll(int database, int count) {
        now();
        List<byte[]> keys = new ArrayList<>();
        long cursor = 0;
        do {
            cursor = session.scan(database, cursor, count,
                    visited -> keys.add(Memory.toArray(visited.keyAddress(), visited.keyLength())));
        } while (cursor != 0);
        return keys;
    }

    /** Does something while another thread has a shard. */
    public void whileHeld(int shard, Runnable action) throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        CacheSession its = cache.newSession();
        ShardSet one = new ShardSet(cache.config().shards());
        one.add(shard);
        Thread holder = new Thread(() -> {
            its.lock(one);
            try {
                held.countDown();
                end.await();
            } catch (InterruptedException nobodyDoes) {
                throw new AssertionError(nobodyDoes);
            } finally {
                its.unlock(one);
            }
        });
        holder.start();
        held.await();
        try {
            action.run();
        } finally {
            end.countDown();
            holder.join();
        }
    }

    /** Runs maintenance until there is nothing more to do at this moment. */
    public void maintainFully() {
        for (int round = 0; round < 100_000; round++) {
            if (cache.maintain() != 0) {
                return;
            }
        }
        throw new AssertionError("maintenance finds no end");
    }

    @Override
    public void close() {
        cache.close();
        LiveRanges.remove(keyBuffer);
        LiveRanges.remove(valueBuffer);
        arena.close();
    }
}
