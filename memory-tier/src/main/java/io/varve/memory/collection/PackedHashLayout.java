package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * The bytes of a small hash: a count, then its entries in the order in which their fields first came. Immutable: static
 * methods only.
 *
 * <pre>
 *  0        4
 *  +--------+---------+---------+-----+---------+
 *  | count  | entry 0 | entry 1 | ... | entry n | end of the value
 *  +--------+---------+---------+-----+---------+
 *
 *  entry:
 *  +------------------+------------------+-------------+-------------+
 *  | field length     | value length     | field bytes | value bytes |
 *  | varint, 1 to 5 B | varint, 1 to 5 B |             |             |
 *  +------------------+------------------+-------------+-------------+
 * </pre>
 *
 * <p>Both lengths come first, so that a search steps over an entry that cannot match after one or two bytes read. A
 * varint has seven bits a byte, low ones first; the top bit of a byte says that another follows.
 */
final class PackedHashLayout {
    static final int COUNT_OFFSET = 0;
    static final int COUNT_BYTES = Integer.BYTES;
    /** Where the first entry starts; also the size of an empty hash. */
    static final int ENTRIES_OFFSET = COUNT_OFFSET + COUNT_BYTES;

    static final int VARINT_BITS = 7;
    static final int VARINT_MASK = (1 << VARINT_BITS) - 1;
    private static final int VARINT_MORE = 1 << VARINT_BITS;

    private PackedHashLayout() {}

    static int count(long hash) {
        return Memory.getInt(hash + COUNT_OFFSET);
    }

    static void count(long hash, int count) {
        Memory.putInt(hash + COUNT_OFFSET, count);
    }

    /** Bytes that the varint of a non-negative number takes, 1 to 5. */
    static int varintBytes(int value) {
        return value < 1 << VARINT_BITS ? 1 : (38 - Integer.numberOfLeadingZeros(value)) / VARINT_BITS;
    }

    /** Writes a non-negative number; returns the address behind it. */
    static long putVarint(long address, int value) {
        int rest = value;
        long at = address;
        while (rest >= VARINT_MORE) {
            Memory.putByte(at++, (byte) (rest & VARINT_MASK | VARINT_MORE));
            rest >>>= VARINT_BITS;
        }
        Memory.putByte(at++, (byte) rest);
        return at;
    }

    /** Reads a number; {@link #varintBytes} of it tells where it ends. */
    static int getVarint(long address) {
        byte first = Memory.getByte(address);
        return first >= 0 ? first : longVarint(address, first);
    }

    private static int longVarint(long address, byte first) {
        int value = first & VARINT_MASK;
        int shift = VARINT_BITS;
        long at = address + 1;
        while (true) {
            byte next = Memory.getByte(at++);
            value |= (next & VARINT_MASK) << shift;
            if (next >= 0) {
                return value;
            }
            shift += VARINT_BITS;
        }
    }
}
