package io.varve.flash.record;

import java.nio.ByteBuffer;
import java.util.Arrays;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;

/**
 * A key on flash: its hash, 8 bytes, and behind it the key itself. So the store's order is the hashes', which says nothing of
 * when a key came, and a key is found by its hash alone. Pure.
 */
public final class RecordKey {
    private static final Hasher64 HASHER = Hashing.komihash5_0();

    private RecordKey() {}

    /** 64 well mixed bits, the same for ever: they are in the files. */
    public static long hash(byte[] key) {
        return HASHER.hashBytesToLong(key);
    }

    /** The key on flash of a key. */
    public static byte[] of(byte[] key) {
        return ByteBuffer.allocate(Long.BYTES + key.length).putLong(hash(key)).put(key).array();
    }

    /** What the keys of a hash begin with. */
    public static byte[] prefix(long hash) {
        return ByteBuffer.allocate(Long.BYTES).putLong(hash).array();
    }

    /**
     * The hash that a key on flash begins with.
     *
     * @throws IllegalArgumentException if it is too short to be one
     */
    public static long hashOf(byte[] recordKey) {
        if (recordKey.length < Long.BYTES) {
            throw new IllegalArgumentException("A key on flash has 8 bytes and more, not " + recordKey.length);
        }
        return ByteBuffer.wrap(recordKey).getLong();
    }

    /** The key behind the hash. */
    public static byte[] keyOf(byte[] recordKey) {
        return Arrays.copyOfRange(recordKey, Long.BYTES, recordKey.length);
    }
}
