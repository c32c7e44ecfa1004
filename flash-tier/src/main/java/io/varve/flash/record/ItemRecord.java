package io.varve.flash.record;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The record of an item on flash: its metadata and value. Immutable: static methods over its bytes.
 *
 * <pre>
 *   0        1              2          3         6 ... 13      14 ... 17   18 ...
 *   version  class | type   encoding   access    expiry time   CRC-32C     value
 * </pre>
 *
 * <p>Version 1 had no penalty class: the upper half of its type byte is 0. Such records are still read. The checksum
 * covers the key on flash and the whole record except the checksum itself. The value's bytes are those in memory.
 */
public final class ItemRecord {
    private static final byte VERSION = 2;
    private static final byte WITHOUT_CLASS = 1;
    /** The result of {@link #penaltyClass} for a record without a class. */
    public static final int UNKNOWN_CLASS = -1;
    private static final int TYPE_BITS = 4;
    private static final int TYPE_MASK = (1 << TYPE_BITS) - 1;
    private static final int TYPE_OFFSET = 1;
    private static final int ENCODING_OFFSET = 2;
    private static final int ACCESS_OFFSET = 3;
    private static final int ACCESS_BYTES = 3;
    private static final int EXPIRE_AT_OFFSET = ACCESS_OFFSET + ACCESS_BYTES;
    private static final int CHECKSUM_OFFSET = EXPIRE_AT_OFFSET + Long.BYTES;
    /** Offset of the value. */
    public static final int VALUE_OFFSET = CHECKSUM_OFFSET + Integer.BYTES;

    private ItemRecord() {}

    /**
     * Builds a record without its value and its checksum.
     *
     * @param type 0 to 15
     * @param access 24 bits
     * @param penaltyClass 0 to 15
     * @param expireAtMillis ms since the epoch, or less than 0
     */
    public static byte[] begin(int type, int encoding, int access, int penaltyClass, long expireAtMillis,
            int valueLength) {
        assert type >= 0 && type <= TYPE_MASK && penaltyClass >= 0 && penaltyClass <= TYPE_MASK : type + " "
                + penaltyClass;
        byte[] record = new byte[VALUE_OFFSET + valueLength];
        ByteBuffer.wrap(record).put(VERSION).put((byte) (penaltyClass << TYPE_BITS | type)).put((byte) encoding)
                .putShort((short) (access >>> Byte.SIZE))
                .put((byte) access).putLong(expireAtMillis);
        return record;
    }

    /** Writes the checksum. */
    public static void seal(byte[] recordKey, byte[] record) {
        ByteBuffer.wrap(record).putInt(CHECKSUM_OFFSET, checksum(recordKey, record));
    }

    /** Whether these bytes were sealed under this key. */
    public static boolean isWhole(byte[] recordKey, byte[] record) {
        return record.length >= VALUE_OFFSET && (record[0] == VERSION || record[0] == WITHOUT_CLASS)
                && ByteBuffer.wrap(record).getInt(CHECKSUM_OFFSET) == checksum(recordKey, record);
    }

    public static int type(byte[] record) {
        return record[TYPE_OFFSET] & TYPE_MASK;
    }

    /** The penalty class, 0 to 15, or {@link #UNKNOWN_CLASS}. */
    public static int penaltyClass(byte[] record) {
        return record[0] == WITHOUT_CLASS ? UNKNOWN_CLASS : (record[TYPE_OFFSET] & 0xFF) >>> TYPE_BITS;
    }

    public static int encoding(byte[] record) {
        return record[ENCODING_OFFSET];
    }

    /** The access data, 24 bits. */
    public static int access(byte[] record) {
        return (ByteBuffer.wrap(record).getShort(ACCESS_OFFSET) & 0xFFFF) << Byte.SIZE
                | record[ACCESS_OFFSET + Short.BYTES] & 0xFF;
    }

    /** Milliseconds since the epoch, or less than 0 for an item that never expires. */
    public static long expireAtMillis(byte[] record) {
        return ByteBuffer.wrap(record).getLong(EXPIRE_AT_OFFSET);
    }

    public static int valueLength(byte[] record) {
        return record.length - VALUE_OFFSET;
    }

    private static int checksum(byte[] recordKey, byte[] record) {
        CRC32C crc = new CRC32C();
        crc.update(recordKey);
        crc.update(record, 0, CHECKSUM_OFFSET);
        crc.update(record, VALUE_OFFSET, record.length - VALUE_OFFSET);
        return (int) crc.getValue();
    }
}
