package io.varve.memory.compared;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;

/** Adapts Caffeine, bounded by its count of entries; keys and values are objects on the heap. Thread-safe. */
final class CaffeineCache implements ComparedCache {
    private final Cache<Key16, byte[]> cache;

    CaffeineCache(long entries) {
        cache = Caffeine.newBuilder().maximumSize(entries + 1000).initialCapacity(Math.toIntExact(entries))
                .executor(Runnable::run).build();
    }

    @Override
    public CacheHandle open() {
        return new CaffeineHandle(cache);
    }

    @Override
    public long size() {
        return cache.estimatedSize();
    }

    @Override
    public void close() {
        cache.invalidateAll();
    }

    private static final class CaffeineHandle implements CacheHandle {
        private final Cache<Key16, byte[]> cache;
        private final Key16 key = new Key16(0);

        CaffeineHandle(Cache<Key16, byte[]> cache) {
            this.cache = cache;
        }

        @Override
        public boolean get(long number, byte[] into) {
            byte[] value = cache.getIfPresent(key.of(number));
            if (value == null) {
                return false;
            }
            System.arraycopy(value, 0, into, 0, value.length);
            return true;
        }

        /** Copies the value, since the cache keeps it. */
        @Override
        public void put(long number, byte[] value) {
            cache.put(new Key16(number), value.clone());
        }

        @Override
        public void remove(long number) {
            cache.invalidate(key.of(number));
        }
    }
}
