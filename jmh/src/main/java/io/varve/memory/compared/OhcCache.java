package io.varve.memory.compared;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

import org.caffinitas.ohc.CacheSerializer;
import org.caffinitas.ohc.DirectValueAccess;
import org.caffinitas.ohc.Eviction;
import org.caffinitas.ohc.OHCache;
import org.caffinitas.ohc.OHCacheBuilder;

/** Adapts OHC, which evicts the least recently used entry. Thread-safe. */
final class OhcCache implements ComparedCache {
    private static final long BYTES_PER_ENTRY = 256;
    private static final int SEGMENTS = 16;

    private static final class KeySerializer implements CacheSerializer<Key16> {
        @Override
        public void serialize(Key16 key, ByteBuffer to) {
            key.write(to);
        }

        @Override
        public Key16 deserialize(ByteBuffer from) {
            return Key16.read(from);
        }

        @Override
        public int serializedSize(Key16 key) {
            return KEY_BYTES;
        }
    }

    private static final class ValueSerializer implements CacheSerializer<byte[]> {
        @Override
        public void serialize(byte[] value, ByteBuffer to) {
            to.put(value);
        }

        @Override
        public byte[] deserialize(ByteBuffer from) {
            byte[] value = new byte[VALUE_BYTES];
            from.get(value);
            return value;
        }

        @Override
        public int serializedSize(byte[] value) {
            return value.length;
        }
    }

    private final OHCache<Key16, byte[]> cache;

    OhcCache(long entries) {
        long perSegment = Math.max(256, Long.highestOneBit(entries / SEGMENTS) << 1);
        cache = OHCacheBuilder.<Key16, byte[]>newBuilder().keySerializer(new KeySerializer())
                .valueSerializer(new ValueSerializer()).segmentCount(SEGMENTS).hashTableSize((int) perSegment)
                .capacity((64L << 20) + entries * BYTES_PER_ENTRY).eviction(Eviction.LRU).throwOOME(true).build();
    }

    @Override
    public CacheHandle open() {
        return new OhcHandle(cache);
    }

    @Override
    public long size() {
        return cache.size();
    }

    @Override
    public void close() {
        try {
            cache.close();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private static final class OhcHandle implements CacheHandle {
        private final OHCache<Key16, byte[]> cache;
        private final Key16 key = new Key16(0);

        OhcHandle(OHCache<Key16, byte[]> cache) {
            this.cache = cache;
        }

        /** Reads the value in place. */
        @Override
        public boolean get(long number, byte[] into) {
            try (DirectValueAccess value = cache.getDirect(key.of(number))) {
                if (value == null) {
                    return false;
                }
                value.buffer().get(into, 0, VALUE_BYTES);
                return true;
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
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
