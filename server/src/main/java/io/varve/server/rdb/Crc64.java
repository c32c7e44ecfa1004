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
    private static final int TABLE_ENTRIES = 256;
    /** One array for all tables, whose length the compiler knows. */
    private static final long[] TABLES = tables();

    private Crc64() {}

    private static long[] tables() {
        long[] tables = new long[Long.BYTES * TABLE_ENTRIES];
        for (int i = 0; i < TABLE_ENTRIES; i++) {
            long crc = i;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                crc = crc >>> 1 ^ (POLYNOMIAL & -(crc & 1));
            }
            tables[i] = crc;
        }
        for (int i = TABLE_ENTRIES; i < tables.length; i++) {
            long before = tables[i - TABLE_ENTRIES];
            tables[i] = before >>> Byte.SIZE ^ tables[(int) before & 0xFF];
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
            crc = entry(7, bits) ^ entry(6, bits >>> 8) ^ entry(5, bits >>> 16) ^ entry(4, bits >>> 24)
                    ^ entry(3, bits >>> 32) ^ entry(2, bits >>> 40) ^ entry(1, bits >>> 48) ^ entry(0, bits >>> 56);
        }
        for (; at < end; at++) {
            crc = crc >>> Byte.SIZE ^ entry(0, crc ^ Memory.getByte(at));
        }
        return crc;
    }

    /** The entry of the lowest byte in a table. */
    private static long entry(int table, long bits) {
        return TABLES[table * TABLE_ENTRIES + ((int) bits & 0xFF)];
    }
}
