package io.varve.memory.compared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

import net.openhft.chronicle.map.ChronicleMap;

/** Adapts Chronicle Map, in memory, with keys and values of constant size. Thread-safe. It evicts nothing. */
final class ChronicleMapCache implements ComparedCache {
    private static final double HEADROOM_FACTOR = 1.05;

    private final ChronicleMap<byte[], byte[]> map;

    ChronicleMapCache(long entries) {
        map = ChronicleMap.of(byte[].class, byte[].class).constantKeySizeBySample(new byte[KEY_BYTES])
                .constantValueSizeBySample(new byte[VALUE_BYTES]).entries((long) (entries * HEADROOM_FACTOR) + 1000)
                .putReturnsNull(true).removeReturnsNull(true).create();
    }

    @Override
    public CacheHandle open() {
        return new ChronicleHandle(map);
    }

    @Override
    public long size() {
        return map.longSize();
    }

    @Override
    public void close() {
        map.close();
    }

    private static final class ChronicleHandle implements CacheHandle {
        private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class,
                ByteOrder.nativeOrder());

        private final ChronicleMap<byte[], byte[]> map;
        private final byte[] key = new byte[KEY_BYTES];

        ChronicleHandle(ChronicleMap<byte[], byte[]> map) {
            this.map = map;
            LONG.set(key, 0, KEY_PREFIX);
        }

        private byte[] key(long number) {
            LONG.set(key, Long.BYTES, number);
            return key;
        }

        /** Fills the given array, which has the value's size, instead of a new one. */
        @Override
        public boolean get(long number, byte[] into) {
            return map.getUsing(key(number), into) != null;
        }

        @Override
        public void put(long number, byte[] value) {
            map.put(key(number), value);
        }

        @Override
        public void remove(long number) {
            map.remove(key(number));
        }
    }
}
