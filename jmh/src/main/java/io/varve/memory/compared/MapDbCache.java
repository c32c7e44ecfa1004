package io.varve.memory.compared;

import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.DataInput2;
import org.mapdb.DataOutput2;
import org.mapdb.HTreeMap;
import org.mapdb.Serializer;

/**
 * Adapts MapDB's hash map in direct memory, with values within the leaves of its tree. Thread-safe. It evicts nothing.
 */
final class MapDbCache implements ComparedCache {
    /** Segments of the map, children of a tree's node and levels: two keys hardly ever share a leaf. */
    private static final int SEGMENTS = 8;
    private static final int CHILDREN = 16;

    private static final class KeySerializer implements Serializer<Key16> {
        @Override
        public void serialize(DataOutput2 out, Key16 key) throws java.io.IOException {
            out.writeLong(KEY_PREFIX);
            out.writeLong(key.number());
        }

        @Override
        public Key16 deserialize(DataInput2 in, int available) throws java.io.IOException {
            in.readLong();
            return new Key16(in.readLong());
        }

        @Override
        public int fixedSize() {
            return KEY_BYTES;
        }

        @Override
        public boolean isTrusted() {
            return true;
        }

        @Override
        public boolean equals(Key16 first, Key16 second) {
            return first.number() == second.number();
        }

        @Override
        public int hashCode(Key16 key, int seed) {
            return key.hashCode() ^ seed;
        }

        @Override
        public int compare(Key16 first, Key16 second) {
            return Long.compare(first.number(), second.number());
        }
    }

    private static final class ValueSerializer implements Serializer<byte[]> {
        @Override
        public void serialize(DataOutput2 out, byte[] value) throws java.io.IOException {
            out.write(value);
        }

        @Override
        public byte[] deserialize(DataInput2 in, int available) throws java.io.IOException {
            byte[] value = new byte[VALUE_BYTES];
            in.readFully(value);
            return value;
        }

        @Override
        public int fixedSize() {
            return VALUE_BYTES;
        }

        @Override
        public boolean isTrusted() {
            return true;
        }

        @Override
        public int compare(byte[] first, byte[] second) {
            return java.util.Arrays.compare(first, second);
        }
    }

    private final DB database;
    private final HTreeMap<Key16, byte[]> map;

    MapDbCache(long entries) {
        int levels = 1;
        for (long leaves = (long) SEGMENTS * CHILDREN; leaves < entries; leaves *= CHILDREN) {
            levels++;
        }
        database = DBMaker.memoryDirectDB().make();
        map = database.hashMap("compared").keySerializer(new KeySerializer()).valueSerializer(new ValueSerializer())
                .valueInline().layout(SEGMENTS, CHILDREN, levels).create();
    }

    @Override
    public CacheHandle open() {
        return new MapDbHandle(map);
    }

    @Override
    public long size() {
        return map.sizeLong();
    }

    @Override
    public void close() {
        database.close();
    }

    private static final class MapDbHandle implements CacheHandle {
        private final HTreeMap<Key16, byte[]> map;
        private final Key16 key = new Key16(0);

        MapDbHandle(HTreeMap<Key16, byte[]> map) {
            this.map = map;
        }

        @Override
        public boolean get(long number, byte[] into) {
            byte[] value = map.get(key.of(number));
            if (value == null) {
                return false;
            }
            System.arraycopy(value, 0, into, 0, value.length);
            return true;
        }

        @Override
        public void put(long number, byte[] value) {
            map.put(key.of(number), value);
        }

        @Override
        public void remove(long number) {
            map.remove(key.of(number));
        }
    }
}
