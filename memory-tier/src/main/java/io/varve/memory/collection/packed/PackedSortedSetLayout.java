package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a small sorted set: a count, then its members in their order. Immutable: static methods only.
 *
 * <pre>
 *  0        4
 *  +--------+---------+---------+-----+---------+
 *  | count  | entry 0 | entry 1 | ... | entry n | end of the value
 *  +--------+---------+---------+-----+---------+
 *
 *  entry:
 *  +------------------+---------+--------------+-----------------------+
 *  | length           | score   | member bytes | length                |
 *  | varint, 1 to 5 B | 8 B     |              | the same varint       |
 *  |                  | double  |              | with its bytes turned |
 *  +------------------+---------+--------------+-----------------------+
 * </pre>
 *
 * <p>The length is at both ends of an entry, so that a walk can go in both directions. Read backwards, the one at the
 * end is a varint as in {@link PackedHashLayout}.
 */
final class PackedSortedSetLayout {
    static final int COUNT_OFFSET = 0;
    static final int COUNT_BYTES = Integer.BYTES;
    /** The offset of the first entry; also the size of an empty set. */
    static final int ENTRIES_OFFSET = COUNT_OFFSET + COUNT_BYTES;
    static final int SCORE_BYTES = Double.BYTES;

    private PackedSortedSetLayout() {}

    static int count(long set) {
        return Memory.getInt(set + COUNT_OFFSET);
    }

    static void count(long set, int count) {
        Memory.putInt(set + COUNT_OFFSET, count);
    }

    /** Bytes of an entry. */
    static long entryBytes(int memberLength) {
        return 2L * PackedHashLayout.varintBytes(memberLength) + SCORE_BYTES + memberLength;
    }

    static int memberLength(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    static double score(long entry) {
        return Double.longBitsToDouble(Memory.getLong(scoreAddress(entry)));
    }

    static void score(long entry, double score) {
        Memory.putLong(scoreAddress(entry), Double.doubleToRawLongBits(score));
    }

    private static long scoreAddress(long entry) {
        return entry + PackedHashLayout.varintBytes(memberLength(entry));
    }

    static long memberAddress(long entry) {
        return scoreAddress(entry) + SCORE_BYTES;
    }

    /** The address behind an entry, where the next one starts. */
    static long end(long entry) {
        return entry + entryBytes(memberLength(entry));
    }

    /** The entry that ends at an address. */
    static long entryBefore(long end) {
        byte last = Memory.getByte(end - 1);
        int length = last >= 0 ? last : longTurnedVarint(end - 1);
        return end - entryBytes(length);
    }

    private static int longTurnedVarint(long address) {
        int value = 0;
        int shift = 0;
        long at = address;
        while (true) {
            byte next = Memory.getByte(at--);
            value |= (next & PackedHashLayout.VARINT_MASK) << shift;
            if (next >= 0) {
                return value;
            }
            shift += PackedHashLayout.VARINT_BITS;
        }
    }

    /** Writes a whole entry. */
    static void write(long entry, double score, long member, int memberLength) {
        long scoreAt = PackedHashLayout.putVarint(entry, memberLength);
        Memory.putLong(scoreAt, Double.doubleToRawLongBits(score));
        long memberAt = scoreAt + SCORE_BYTES;
        Memory.copy(member, memberAt, memberLength);
        long turned = memberAt + memberLength;
        for (long at = scoreAt - 1; at >= entry; at--) {
            Memory.putByte(turned++, Memory.getByte(at));
        }
    }
}
