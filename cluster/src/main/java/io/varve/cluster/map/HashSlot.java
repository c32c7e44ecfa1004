package io.varve.cluster.map;

import java.nio.charset.StandardCharsets;

/**
 * The hash slot of a key, as in Redis Cluster: CRC-16 (XMODEM) of the key, or of its hash tag, modulo {@link #COUNT}.
 * Stateless.
 *
 * <p>The hash tag is what stands between the first <code>{</code> and the first <code>}</code> after it, unless that is
 * empty. Keys with one tag are in one slot.
 */
public final class HashSlot {
    /** Slots of a cluster. */
    public static final int COUNT = 16_384;

    private static final int POLYNOMIAL = 0x1021;
    private static final int TABLE_SIZE = 256;
    private static final char[] TABLE = table();

    private HashSlot() {}

    private static char[] table() {
        char[] table = new char[TABLE_SIZE];
        for (int i = 0; i < TABLE_SIZE; i++) {
            int crc = i << 8;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = (crc & 0x8000) == 0 ? crc << 1 : crc << 1 ^ POLYNOMIAL;
            }
            table[i] = (char) crc;
        }
        return table;
    }

    /** @return the checksum with the next byte, from 0 to 65535; the first one is 0 */
    public static int crc16(int crc, byte next) {
        return (crc << 8 ^ TABLE[(crc >>> 8 ^ next) & 0xFF]) & 0xFFFF;
    }

    /** @return the slot for the checksum of a key or tag, from 0 to {@link #COUNT} - 1 */
    public static int of(int crc) {
        return crc & COUNT - 1;
    }

    /** @return the slot of a key, from 0 to {@link #COUNT} - 1 */
    public static int of(byte[] key) {
        int from = 0;
        int to = key.length;
        int open = indexOf(key, (byte) '{', 0);
        if (open >= 0) {
            int close = indexOf(key, (byte) '}', open + 1);
            if (close > open + 1) {
                from = open + 1;
                to = close;
            }
        }
        int crc = 0;
        for (int i = from; i < to; i++) {
            crc = crc16(crc, key[i]);
        }
        return of(crc);
    }

    /** @return the slot of the UTF-8 bytes of a key */
    public static int of(String key) {
        return of(key.getBytes(StandardCharsets.UTF_8));
    }

    private static int indexOf(byte[] bytes, byte wanted, int from) {
        for (int i = from; i < bytes.length; i++) {
            if (bytes[i] == wanted) {
                return i;
            }
        }
        return -1;
    }
}
