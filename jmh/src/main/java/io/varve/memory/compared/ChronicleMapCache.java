package io.varve.memory.compared;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

import net.openhft.chronicle.map.ChronicleMap;

/** Chronicle Map, in memory, with keys and values of constant size. It evicts nothing. Thread-safe. */
final class ChronicleMapCache implements ComparedCache {
    private static final double ROOM = 1.05;

    private final ChronicleMap<byte[], byte[]> map;

    ChronicleMapCache(long entries) {
        map = ChronicleMap.of(byte[].class, byte[].class).constantKeySizeBySample(new byte[KEY_BYTES])
                .constantValueSizeBySample(new byte[VALUE_BYTES]).entries((long) (entries * ROOM) + 1000)
                .putReturnsNull(true).removeReturnsNull(true).create();
    }

    @Override
    public Door open() {
        return new ChronicleDoor(map);
    }

    @Override
    public long size() {
        return map.longSize();
    }

    @Override
    public void close() {
        map.close();
    }

    private static final class ChronicleDoor implements Door {
        private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class,
                ByteOrder.nativeOrder());

        private final ChronicleMap<byte[], byte[]> map;
        private final byte[] key = new byte[KEY_BYTES];

        ChronicleDoor(ChronicleMap<byte[], byte[]> map) {
            this.map = map;
            LONG.set(key, 0, KEY_PREFIX);
        }

        private byte[] key(long number) {
            LONG.set(key, Long.BYTES, number);
            return key;
        }

        /** It fills the array it is given, of the same size, rather than a new one. */
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
