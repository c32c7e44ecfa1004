package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a small set of any members: a count, then its members in the order of their insertion. Immutable:
 * static methods only.
 *
 * <pre>
 *  0        4
 *  +--------+----------+----------+-----+----------+
 *  | count  | member 0 | member 1 | ... | member n | end of the value
 *  +--------+----------+----------+-----+----------+
 *
 *  member:
 *  +------------------+-------+
 *  | length           | bytes |
 *  | varint, 1 to 5 B |       |
 *  +------------------+-------+
 * </pre>
 *
 * <p>The varint is that of {@link PackedHashLayout}.
 */
final class PackedSetLayout {
    static final int COUNT_OFFSET = 0;
    static final int COUNT_BYTES = Integer.BYTES;
    /** The offset of the first member; also the size of an empty set. */
    static final int MEMBERS_OFFSET = COUNT_OFFSET + COUNT_BYTES;

    private PackedSetLayout() {}

    static int count(long set) {
        return Memory.getInt(set + COUNT_OFFSET);
    }

    static void count(long set, int count) {
        Memory.putInt(set + COUNT_OFFSET, count);
    }

    /** Bytes of a member of this length. */
    static long memberBytes(int length) {
        return (long) PackedHashLayout.varintBytes(length) + length;
    }

    static int length(long member) {
        return PackedHashLayout.getVarint(member);
    }

    /** Writes the length; returns the address of the bytes. */
    static long putLength(long member, int length) {
        return PackedHashLayout.putVarint(member, length);
    }

    /** The address of the bytes of a member whose length is known. */
    static long bytes(long member, int length) {
        return member + PackedHashLayout.varintBytes(length);
    }
}
