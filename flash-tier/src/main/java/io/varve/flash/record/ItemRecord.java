package io.varve.flash.record;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The record of an item on flash: its metadata and value. Immutable: static methods over its bytes.
 *
 * <pre>
 *   0        1              2          3         6 ... 13      14 ... 17   18 ...
 *   version  class | type   encoding   access    expiry time   CRC-32C     value
 *                                                              CRC-32C     18 ... 25: scan   26 ...: value
 * </pre>
 *
 * <p>Version 1 had no penalty class: the upper half of its type byte is 0. Such records are still read. Version 3 has
 * the number of the point-in-time scan during which the item was demoted. The checksum covers the key on flash and the
 * whole record except the checksum itself. The value's bytes are those in memory.
 */
public final class ItemRecord {
    private static final byte VERSION = 2;
    private static final byte WITHOUT_CLASS = 1;
    private static final byte WITH_SCAN = 3;
    /** The number of an item that was demoted while no point-in-time scan was open. */
    public static final long NO_SCAN = 0;
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
    private static final int SCAN_OFFSET = CHECKSUM_OFFSET + Integer.BYTES;
    private static final int VALUE_OFFSET = SCAN_OFFSET;
    private static final int VALUE_OFFSET_WITH_SCAN = SCAN_OFFSET + Long.BYTES;

    private ItemRecord() {}

    /**
     * Builds a record without its value and its checksum.
     *
     * @param type 0 to 15
     * @param access 24 bits
     * @param penaltyClass 0 to 15
     * @param expireAtMillis ms since the epoch, or less than 0
     * @param scanId the number of the point-in-time scan that is open, or {@link #NO_SCAN}
     */
    public static byte[] begin(int type, int encoding, int access, int penaltyClass, long expireAtMillis,
            int valueLength, long scanId) {
        assert type >= 0 && type <= TYPE_MASK && penaltyClass >= 0 && penaltyClass <= TYPE_MASK : type + " "
                + penaltyClass;
        boolean isDuringScan = scanId != NO_SCAN;
        byte[] record = new byte[(isDuringScan ? VALUE_OFFSET_WITH_SCAN : VALUE_OFFSET) + valueLength];
        ByteBuffer fields = ByteBuffer.wrap(record).put(isDuringScan ? WITH_SCAN : VERSION)
                .put((byte) (penaltyClass << TYPE_BITS | type)).put((byte) encoding)
                .putShort((short) (access >>> Byte.SIZE))
                .put((byte) access).putLong(expireAtMillis);
        if (isDuringScan) {
            fields.putLong(SCAN_OFFSET, scanId);
        }
        return record;
    }

    /** Offset of the value. */
    public static int valueOffset(byte[] record) {
        return record[0] == WITH_SCAN ? VALUE_OFFSET_WITH_SCAN : VALUE_OFFSET;
    }

    /** The number of the point-in-time scan during which the item was demoted, or {@link #NO_SCAN}. */
    public static long scanId(byte[] record) {
        return record[0] == WITH_SCAN ? ByteBuffer.wrap(record).getLong(SCAN_OFFSET) : NO_SCAN;
    }

    /** Writes the checksum. */
    public static void seal(byte[] recordKey, byte[] record) {
        ByteBuffer.wrap(record).putInt(CHECKSUM_OFFSET, checksum(recordKey, record));
    }

    /** Whether these bytes were sealed under this key. */
    public static boolean isWhole(byte[] recordKey, byte[] record) {
        return record.length >= VALUE_OFFSET && record.length >= valueOffset(record)
                && record[0] >= WITHOUT_CLASS && record[0] <= WITH_SCAN
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
        return record.length - valueOffset(record);
    }

    private static int checksum(byte[] recordKey, byte[] record) {
        CRC32C crc = new CRC32C();
        crc.update(recordKey);
        crc.update(record, 0, CHECKSUM_OFFSET);
        crc.update(record, SCAN_OFFSET, record.length - SCAN_OFFSET);
        return (int) crc.getValue();
    }
}
