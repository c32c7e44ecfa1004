package io.varve.memory.compared;

import java.nio.ByteBuffer;
import java.util.Iterator;

import org.ehcache.Cache;
import org.ehcache.CacheManager;
import org.ehcache.config.builders.CacheConfigurationBuilder;
import org.ehcache.config.builders.CacheManagerBuilder;
import org.ehcache.config.builders.ResourcePoolsBuilder;
import org.ehcache.config.units.MemoryUnit;
import org.ehcache.spi.serialization.Serializer;

/** Adapts Ehcache with its off-heap tier alone. Thread-safe. */
final class EhcacheCache implements ComparedCache {
    private static final String NAME = "compared";
    private static final long BYTES_PER_ENTRY = 320;

    private static final class KeySerializer implements Serializer<Key16> {
        @Override
        public ByteBuffer serialize(Key16 key) {
            ByteBuffer bytes = ByteBuffer.allocate(KEY_BYTES);
            key.write(bytes);
            return bytes.flip();
        }

        @Override
        public Key16 read(ByteBuffer bytes) {
            return Key16.read(bytes);
        }

        @Override
        public boolean equals(Key16 key, ByteBuffer bytes) {
            return key.isIn(bytes);
        }
    }

    private static final class ValueSerializer implements Serializer<byte[]> {
        @Override
        public ByteBuffer serialize(byte[] value) {
            return ByteBuffer.wrap(value);
        }

        @Override
        public byte[] read(ByteBuffer bytes) {
            byte[] value = new byte[bytes.remaining()];
            bytes.get(value);
            return value;
        }

        @Override
        public boolean equals(byte[] value, ByteBuffer bytes) {
            return ByteBuffer.wrap(value).equals(bytes);
        }
    }

    private final CacheManager manager;
    private final Cache<Key16, byte[]> cache;

    EhcacheCache(long entries) {
        long megabytes = 64 + (entries * BYTES_PER_ENTRY >> 20);
        manager = CacheManagerBuilder.newCacheManagerBuilder()
                .withCache(NAME, CacheConfigurationBuilder.newCacheConfigurationBuilder(Key16.class, byte[].class,
                        ResourcePoolsBuilder.newResourcePoolsBuilder().offheap(megabytes, MemoryUnit.MB))
                        .withKeySerializer(new KeySerializer()).withValueSerializer(new ValueSerializer()))
                .build(true);
        cache = manager.getCache(NAME, Key16.class, byte[].class);
    }

    @Override
    public CacheHandle open() {
        return new EhcacheHandle(cache);
    }

    /** Counts the entries, since the cache reports no size. */
    @Override
    public long size() {
        long size = 0;
        for (Iterator<Cache.Entry<Key16, byte[]>> all = cache.iterator(); all.hasNext(); all.next()) {
            size++;
        }
        return size;
    }

    @Override
    public void close() {
        manager.close();
    }

    private static final class EhcacheHandle implements CacheHandle {
        private final Cache<Key16, byte[]> cache;
        private final Key16 key = new Key16(0);

        EhcacheHandle(Cache<Key16, byte[]> cache) {
            this.cache = cache;
        }

        @Override
        public boolean get(long number, byte[] into) {
            byte[] value = cache.get(key.of(number));
            if (value == null) {
                return false;
            }
            System.arraycopy(value, 0, into, 0, value.length);
            return true;
        }

        @Override
        public void put(long number, byte[] value) {
            cache.put(key.of(number), value);
        }

        @Override
        public void remove(long number) {
            cache.remove(key.of(number));
        }
    }
}
