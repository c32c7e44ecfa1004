package io.varve.memory.compared;

import java.util.concurrent.locks.LockSupport;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;

/** Adapts Varve's own cache, with a maintenance thread as in a server. Thread-safe. */
final class VarveCache implements ComparedCache {
    /** Far above the memory of an entry: memory is taken when it is written. */
    private static final long MAX_BYTES_PER_ENTRY = 320;
    private static final long MIN_BYTES = 64L << 20;
    /** As a server reads the clock once for a batch. */
    private static final int OPERATIONS_PER_CLOCK = 64;
    private static final long WRITE_BYTES = 256;
    private static final long LONGEST_PAUSE_NANOS = 100_000_000;

    private final Cache cache;
    private final Regions regions = new Regions();
    private final Thread maintenance;
    private volatile boolean closing;

    VarveCache(long entries) {
        cache = Cache.open(CacheConfig.defaults(MIN_BYTES + entries * MAX_BYTES_PER_ENTRY));
        maintenance = Thread.ofPlatform().name("maintenance").daemon().start(this::maintain);
    }

    private void maintain() {
        while (!closing) {
            long idleNanos = cache.maintain();
            if (idleNanos > 0) {
                LockSupport.parkNanos(this, Math.min(idleNanos, LONGEST_PAUSE_NANOS));
            }
        }
    }

    @Override
    public CacheHandle open() {
        return new VarveHandle(cache, regions.allocate(Regions.MIN_BYTES));
    }

    @Override
    public long size() {
        return cache.size(0);
    }

    @Override
    public void close() {
        closing = true;
        LockSupport.unpark(maintenance);
        boolean interrupted = false;
        while (maintenance.isAlive()) {
            try {
                maintenance.join();
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        cache.close();
    }

    private static final class VarveHandle implements CacheHandle {
        private final Cache cache;
        private final CacheSession session;
        private final Key key = new Key();
        private final Item item = new Item();
        private final long keyAddress;
        private final long valueAddress;
        private int operations;

        VarveHandle(Cache cache, long buffer) {
            this.cache = cache;
            session = cache.newSession();
            keyAddress = buffer;
            valueAddress = buffer + Regions.MIN_BYTES / 2;
            Memory.putLong(keyAddress, KEY_PREFIX);
        }

        private void bind(long number) {
            if ((operations++ & OPERATIONS_PER_CLOCK - 1) == 0) {
                session.now(cache.config().ticker().wallMillis());
            }
            Memory.putLong(keyAddress + Long.BYTES, number);
            session.bind(key, 0, keyAddress, KEY_BYTES);
        }

        @Override
        public boolean get(long number, byte[] into) {
            bind(number);
            session.lock(key);
            try {
                boolean found = session.find(key, item);
                if (found) {
                    Memory.copy(item.valueAddress(), into, 0, item.valueLength());
                }
                return found;
            } finally {
                session.unlock(key);
            }
        }

        @Override
        public void put(long number, byte[] value) {
            if (!cache.hasFreeMemory(WRITE_BYTES) && !cache.admit(WRITE_BYTES)) {
                throw new IllegalStateException("The cache is full");
            }
            bind(number);
            Memory.copy(value, 0, valueAddress, value.length);
            session.lock(key);
            try {
                session.set(key, ItemType.STRING, 0, valueAddress, value.length, Item.NEVER);
            } finally {
                session.unlock(key);
            }
        }

        @Override
        public void remove(long number) {
            bind(number);
            session.lock(key);
            try {
                session.delete(key);
            } finally {
                session.unlock(key);
            }
        }
    }
}
