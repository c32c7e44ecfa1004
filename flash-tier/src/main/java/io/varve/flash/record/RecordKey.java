package io.varve.flash.record;

import java.nio.ByteBuffer;
import java.util.Arrays;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;

/**
 * A key on flash: its hash, 8 bytes, followed by the key itself. Immutable: static methods only. The store's order is
 * that of the hashes, which is independent of insertion time, and a key can be found by its hash alone.
 */
public final class RecordKey {
    private static final Hasher64 HASHER = Hashing.komihash5_0();

    private RecordKey() {}

    /** 64 well-mixed bits, stable across versions: they are in the files. */
    public static long hash(byte[] key) {
        return HASHER.hashBytesToLong(key);
    }

    /** Builds the key on flash. */
    public static byte[] of(byte[] key) {
        return ByteBuffer.allocate(Long.BYTES + key.length).putLong(hash(key)).put(key).array();
    }

    /** The prefix of keys with this hash. */
    public static byte[] prefix(long hash) {
        return ByteBuffer.allocate(Long.BYTES).putLong(hash).array();
    }

    /**
     * The hash at the begin of a key on flash.
     *
     * @throws IllegalArgumentException if it is too short
     */
    public static long hashOf(byte[] recordKey) {
        if (recordKey.length < Long.BYTES) {
            throw new IllegalArgumentException("A key on flash has at least 8 bytes, not " + recordKey.length);
        }
        return ByteBuffer.wrap(recordKey).getLong();
    }

    /** The key after the hash. */
    public static byte[] keyOf(byte[] recordKey) {
        return Arrays.copyOfRange(recordKey, Long.BYTES, recordKey.length);
    }
}
