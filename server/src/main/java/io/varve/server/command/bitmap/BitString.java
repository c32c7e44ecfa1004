package io.varve.server.command.bitmap;

import io.varve.memory.offheap.Memory;

/** Bit access to a string; bit 0 is the highest bit of the first byte. Immutable: static methods only. */
final class BitString {
    private static final int ALL = 0xFF;

    private BitString() {}

    /** The bit at an offset within the string. */
    static int get(long address, long bit) {
        return Memory.getByte(address + (bit >>> 3)) >>> 7 - (int) (bit & 7) & 1;
    }

    static void put(long address, long bit, int value) {
        long at = address + (bit >>> 3);
        int mask = 1 << 7 - (int) (bit & 7);
        int old = Memory.getByte(at);
        Memory.putByte(at, (byte) (value == 0 ? old & ~mask : old | mask));
    }

    /**
     * Up to 64 bits from an offset on, the first one as the highest; bits after the end are 0.
     *
     * @param length length of the string, bytes
     */
    static long get(long address, int length, long bit, int bits) {
        long value = 0;
        long at = bit;
        for (int left = bits; left > 0;) {
            int skipped = (int) (at & 7);
            int taken = Math.min(8 - skipped, left);
            long place = at >>> 3;
            int b = place < length ? Memory.getByte(address + place) & ALL : 0;
            value = value << taken | b >>> 8 - skipped - taken & (1 << taken) - 1;
            at += taken;
            left -= taken;
        }
        return value;
    }

    /** Writes the lowest bits of a value, the highest of them first, from an offset on; all are within the string. */
    static void put(long address, long bit, int bits, long value) {
        long at = bit;
        for (int left = bits; left > 0;) {
            int skipped = (int) (at & 7);
            int taken = Math.min(8 - skipped, left);
            int shift = 8 - skipped - taken;
            int mask = (1 << taken) - 1 << shift;
            int written = (int) (value >>> left - taken) << shift & mask;
            long place = address + (at >>> 3);
            Memory.putByte(place, (byte) (Memory.getByte(place) & ~mask | written));
            at += taken;
            left -= taken;
        }
    }

    // --- count

    /** Number of set bits from first to last, both included; 0 if the first is after the last. */
    static long count(long address, long first, long last) {
        if (first > last) {
            return 0;
        }
        long firstByte = first >>> 3;
        long lastByte = last >>> 3;
        int before = Memory.getByte(address + firstByte) & ALL & ~(ALL >>> (int) (first & 7));
        int behind = Memory.getByte(address + lastByte) & ALL >>> (int) (last & 7) + 1;
        return countBytes(address + firstByte, lastByte - firstByte + 1) - Integer.bitCount(before)
                - Integer.bitCount(behind);
    }

    private static long countBytes(long address, long length) {
        long count = 0;
        long i = 0;
        for (; i <= length - Long.BYTES; i += Long.BYTES) {
            count += Long.bitCount(Memory.getLong(address + i));
        }
        for (; i < length; i++) {
            count += Integer.bitCount(Memory.getByte(address + i) & ALL);
        }
        return count;
    }

    // --- find

    /** The first bit of this value from first to last, both included; -1 if there is none. */
    static long find(long address, int value, long first, long last) {
        long at = first;
        while (at <= last && (at & 7) != 0) {
            if (get(address, at) == value) {
                return at;
            }
            at++;
        }
        // Skip words, then bytes, without a bit of this value.
        long none = value == 0 ? -1 : 0;
        while (at + Long.SIZE - 1 <= last && Memory.getLong(address + (at >>> 3)) == none) {
            at += Long.SIZE;
        }
        while (at + Byte.SIZE - 1 <= last && Memory.getByte(address + (at >>> 3)) == (byte) none) {
            at += Byte.SIZE;
        }
        while (at <= last) {
            if (get(address, at) == value) {
                return at;
            }
            at++;
        }
        return -1;
    }
}
