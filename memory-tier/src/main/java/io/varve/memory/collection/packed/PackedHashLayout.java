package io.varve.memory.collection.packed;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a small hash: a count, then its entries in the order in which their fields were inserted.
 * Immutable: static methods only.
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
 *
 *  entry of a field that has a time:
 *  +------------------+------------------+------+-------------+-------------+
 *  | field length     | value length with| time | field bytes | value bytes |
 *  | varint, 1 to 5 B | bit 31, 5 B      | 6    |             |             |
 *  +------------------+------------------+------+-------------+-------------+
 * </pre>
 *
 * <p>Both lengths come first, so that a search skips an entry that cannot match after reading one or two bytes. A
 * varint has seven bits a byte, low ones first; the top bit of a byte says that another follows. Bit 31 of a value's
 * length, which is zero in any real length, marks a time. The time follows in six bytes, in milliseconds since the
 * epoch; from then on the field is due.
 */
public final class PackedHashLayout {
    static final int COUNT_OFFSET = 0;
    static final int COUNT_BYTES = Integer.BYTES;
    /** The offset of the first entry; also the size of an empty hash. */
    static final int ENTRIES_OFFSET = COUNT_OFFSET + COUNT_BYTES;

    public static final int VARINT_BITS = 7;
    public static final int VARINT_MASK = (1 << VARINT_BITS) - 1;

    /** The bit of a value's stored length that marks a time. */
    static final int TIMED = 1 << 31;
    private static final int TIME_BYTES = 6;
    private static final int TIMED_HEAD_BYTES = 5 + TIME_BYTES;
    private static final int VARINT_MORE = 1 << VARINT_BITS;

    private PackedHashLayout() {}

    static int count(long hash) {
        return Memory.getInt(hash + COUNT_OFFSET);
    }

    static void count(long hash, int count) {
        Memory.putInt(hash + COUNT_OFFSET, count);
    }

    /** Bytes of the varint of a non-negative number, 1 to 5. */
    public static int varintBytes(int value) {
        return value < 1 << VARINT_BITS ? 1 : (38 - Integer.numberOfLeadingZeros(value)) / VARINT_BITS;
    }

    // --- the head of a value

    /** Bytes of a value's length as it is stored, and of the time behind it, if any. */
    public static int headBytes(int stored) {
        return (stored & ~VARINT_MASK) == 0 ? 1 : longHeadBytes(stored);
    }

    private static int longHeadBytes(int stored) {
        return stored < 0 ? TIMED_HEAD_BYTES : varintBytes(stored);
    }

    /** The length in a stored length. */
    public static int length(int stored) {
        return stored & ~TIMED;
    }

    /** The stored length of a value with a time, or {@link Item#NEVER}. */
    public static int stored(int length, long time) {
        return time == Item.NEVER ? length : length | TIMED;
    }

    /** The time behind a value's length, or {@link Item#NEVER}. */
    public static long time(long head) {
        return getVarint(head) < 0 ? Memory.getUnsigned48(head + TIMED_HEAD_BYTES - TIME_BYTES) : Item.NEVER;
    }

    /** Writes a value's length, and a time unless it is {@link Item#NEVER}; returns the address behind it. */
    public static long putHead(long head, int length, long time) {
        long at = putVarint(head, stored(length, time));
        if (time == Item.NEVER) {
            return at;
        }
        Memory.putUnsigned48(at, time);
        return at + TIME_BYTES;
    }

    // --- an entry on the heap

    /** The time of an entry's field, or {@link Item#NEVER}. */
    static long time(byte[] bytes, int entry) {
        int head = entry + varintBytes(getVarint(bytes, entry));
        if (getVarint(bytes, head) >= 0) {
            return Item.NEVER;
        }
        long time = 0;
        for (int i = TIME_BYTES - 1; i >= 0; i--) {
            time = time << Byte.SIZE | bytes[head + TIMED_HEAD_BYTES - TIME_BYTES + i] & 0xFF;
        }
        return time;
    }

    /** The offset of the next entry. */
    static int end(byte[] bytes, int entry) {
        int fieldLength = getVarint(bytes, entry);
        int head = entry + varintBytes(fieldLength);
        int stored = getVarint(bytes, head);
        return head + headBytes(stored) + fieldLength + length(stored);
    }

    private static int getVarint(byte[] bytes, int from) {
        int value = 0;
        int shift = 0;
        for (int at = from;; at++) {
            value |= (bytes[at] & VARINT_MASK) << shift;
            if (bytes[at] >= 0) {
                return value;
            }
            shift += VARINT_BITS;
        }
    }

    // --- varints

    /** Writes a number, read as unsigned; returns the address behind it. */
    public static long putVarint(long address, int value) {
        int rest = value;
        long at = address;
        while ((rest & ~VARINT_MASK) != 0) {
            Memory.putByte(at++, (byte) (rest & VARINT_MASK | VARINT_MORE));
            rest >>>= VARINT_BITS;
        }
        Memory.putByte(at++, (byte) rest);
        return at;
    }

    /** Reads a number; {@link #varintBytes} of it gives its size. */
    public static int getVarint(long address) {
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
