package io.varve.experiments.run.locks;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;

/**
 * Varve's cache as a store of words, without a server: a session for each thread, and the steps of a GET and a SET.
 * Thread-safe. A read copies its item without a lock, and takes the lock only if a writer holds it. A write reserves
 * memory and locks the key's shard.
 */
final class VarveStore implements WordStore {
    private static final int MAX_VALUE_BYTES = 1 << 16;
    /** Maximum bytes of an item beside its value. */
    private static final int OVERHEAD_BYTES = 128;
    /** Number of requests between two readings of the clock; a server reads it once per batch. */
    private static final int CLOCK_REQUESTS = 64;

    private final Cache cache;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment[] words;

    VarveStore(CacheConfig config, Word[] words) {
        this.cache = Cache.open(config);
        this.words = new MemorySegment[words.length];
        for (int i = 0; i < words.length; i++) {
            byte[] bytes = words[i].bytes();
            this.words[i] = arena.allocate(bytes.length);
            MemorySegment.copy(bytes, 0, this.words[i], ValueLayout.JAVA_BYTE, 0, bytes.length);
        }
    }

    @Override
    public Access open() {
        return new Session();
    }

    @Override
    public void close() {
        cache.close();
        arena.close();
    }

    /** A thread's session. Confined to one thread at a time. */
    private final class Session implements Access {
        private final CacheSession session = cache.newSession();
        private final Key key = new Key();
        private final Item item = new Item();
        private final MemorySegment value = arena.allocate(MAX_VALUE_BYTES);
        private int requests;

        private void bind(int number) {
            if (requests++ % CLOCK_REQUESTS == 0) {
                session.now(System.currentTimeMillis());
            }
            MemorySegment word = words[number];
            session.bind(key, 0, word.address(), (int) word.byteSize());
        }

        @Override
        public int read(int number) {
            bind(number);
            if (session.beginOptimisticRead(key) && session.confirmOptimisticRead()) {
                try {
                    return find();
                } finally {
                    session.endOptimisticRead();
                }
            }
            session.lock(key);
            try {
                return find();
            } finally {
                session.unlock(key);
            }
        }

        private int find() {
            return session.find(key, item) ? Memory.getByte(item.valueAddress()) : -1;
        }

        @Override
        public void write(int number, byte[] bytes) {
            bind(number);
            Memory.copy(bytes, 0, value.address(), bytes.length);
            if (!cache.admit(bytes.length + (long) OVERHEAD_BYTES)) {
                throw new IllegalStateException("maxmemory is too small for the words");
            }
            session.lock(key);
            try {
                session.set(key, ItemType.STRING, 0, value.address(), bytes.length, Item.NEVER);
            } finally {
                session.unlock(key);
            }
        }
    }
}
