package io.varve.server.rdb;

import io.varve.memory.offheap.Memory;

/**
 * The checksum of payloads and RDB files: CRC-64 with the Jones polynomial, reflected, initial value zero. Immutable:
 * static methods only.
 *
 * <p>It processes eight bytes at a time: table {@code i} holds the remainder of a byte followed by {@code i} zero
 * bytes.
 */
public final class Crc64 {
    private static final long POLYNOMIAL = Long.reverse(0xAD93D23594C935A9L);
    private static final long[][] TABLES = tables();

    private Crc64() {}

    private static long[][] tables() {
        long[][] tables = new long[Long.BYTES][256];
        for (int i = 0; i < 256; i++) {
            long crc = i;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = crc >>> 1 ^ (POLYNOMIAL & -(crc & 1));
            }
            tables[0][i] = crc;
        }
        for (int t = 1; t < tables.length; t++) {
            for (int i = 0; i < 256; i++) {
                long before = tables[t - 1][i];
                tables[t][i] = before >>> Byte.SIZE ^ tables[0][(int) before & 0xFF];
            }
        }
        return tables;
    }

    static long of(long address, long length) {
        return update(0, address, length);
    }

    /** The checksum of bytes that follow others. */
    public static long update(long before, long address, long length) {
        long crc = before;
        long at = address;
        long end = address + length;
        for (; end - at >= Long.BYTES; at += Long.BYTES) {
            long bits = crc ^ Memory.getLong(at);
            crc = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                crc ^= TABLES[Long.BYTES - 1 - i][(int) (bits >>> i * Byte.SIZE) & 0xFF];
            }
        }
        for (; at < end; at++) {
            crc = crc >>> Byte.SIZE ^ TABLES[0][(int) (crc ^ Memory.getByte(at)) & 0xFF];
        }
        return crc;
    }
}
