package io.varve.flash.record;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.CRC32C;

/**
 * A value on flash. Immutable, as long as no caller writes into the array.
 *
 * <pre>
 *   0        1       2       3 ... 6     7 ...
 *   version  marks   unused  CRC-32C     value
 * </pre>
 *
 * <p>The checksum covers the key on flash, version and marks, and the value. So bytes of another key are rejected like
 * bytes that a device has corrupted.
 */
public final class StoredValue {
    private static final byte VERSION = 1;
    private static final int MARKS_OFFSET = 1;
    private static final int CHECKSUM_OFFSET = 3;
    private static final int HEAD_BYTES = CHECKSUM_OFFSET + Integer.BYTES;
    private static final byte DIRTY = 1;

    private final byte[] value;
    private final boolean dirty;

    /** @param dirty whether the value has not been written to the database behind the cache yet */
    public StoredValue(byte[] value, boolean dirty) {
        this.value = value;
        this.dirty = dirty;
    }

    public byte[] value() {
        return value;
    }

    /** Whether the value has not been written to the database behind the cache yet. */
    public boolean dirty() {
        return dirty;
    }

    /** The bytes to store under the key. */
    public byte[] encode(byte[] recordKey) {
        ByteBuffer bytes = ByteBuffer.allocate(HEAD_BYTES + value.length);
        bytes.put(0, VERSION).put(MARKS_OFFSET, dirty ? DIRTY : 0).put(HEAD_BYTES, value);
        bytes.putInt(CHECKSUM_OFFSET, checksum(recordKey, bytes.array()));
        return bytes.array();
    }

    /** The value in bytes that were stored under the key; empty if they are corrupt. */
    public static Optional<StoredValue> decode(byte[] recordKey, byte[] bytes) {
        if (bytes.length < HEAD_BYTES || bytes[0] != VERSION
                || ByteBuffer.wrap(bytes).getInt(CHECKSUM_OFFSET) != checksum(recordKey, bytes)) {
            return Optional.empty();
        }
        return Optional.of(new StoredValue(Arrays.copyOfRange(bytes, HEAD_BYTES, bytes.length),
                (bytes[MARKS_OFFSET] & DIRTY) != 0));
    }

    private static int checksum(byte[] recordKey, byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(recordKey);
        crc.update(bytes, 0, CHECKSUM_OFFSET);
        crc.update(bytes, HEAD_BYTES, bytes.length - HEAD_BYTES);
        return (int) crc.getValue();
    }
}
