package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a small list: a count, then its elements from the first to the last. Immutable: static methods
 * only.
 *
 * <pre>
 *  0        4
 *  +--------+---------+---------+-----+---------+
 *  | count  | entry 0 | entry 1 | ... | entry n | end of the value
 *  +--------+---------+---------+-----+---------+
 *
 *  entry:
 *  +------------------+-------+
 *  | length           | bytes |
 *  | varint, 1 to 5 B |       |
 *  +------------------+-------+
 * </pre>
 *
 * <p>The varint is that of {@link PackedHashLayout}. An entry has no link to the previous one: a backward walk must
 * first record the offsets of the entries.
 */
final class PackedListLayout {
    static final int COUNT_OFFSET = 0;
    static final int COUNT_BYTES = Integer.BYTES;
    /** The offset of the first entry; also the size of an empty list. */
    static final int ENTRIES_OFFSET = COUNT_OFFSET + COUNT_BYTES;

    private PackedListLayout() {}

    static int count(long list) {
        return Memory.getInt(list + COUNT_OFFSET);
    }

    static void count(long list, int count) {
        Memory.putInt(list + COUNT_OFFSET, count);
    }

    /** Bytes of an entry of this length. */
    static long entryBytes(int length) {
        return (long) PackedHashLayout.varintBytes(length) + length;
    }

    static int length(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    /** The address of the bytes of an entry whose length is known. */
    static long bytes(long entry, int length) {
        return entry + PackedHashLayout.varintBytes(length);
    }

    /** Writes an entry; returns the address behind it. */
    static long write(long entry, long address, int length) {
        long at = PackedHashLayout.putVarint(entry, length);
        Memory.copy(address, at, length);
        return at + length;
    }
}
