package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * The bytes of a small list: a count, then its elements from the first to the last. Immutable: static methods only.
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
 * <p>The varint is that of {@link PackedHashLayout}. No entry says where it began: who goes backwards notes where entries are.
 */
final class PackedListLayout {
    static final int COUNT_OFFSET = 0;
    static final int COUNT_BYTES = Integer.BYTES;
    /** Where the first entry starts; also the size of an empty list. */
    static final int ENTRIES_OFFSET = COUNT_OFFSET + COUNT_BYTES;

    private PackedListLayout() {}

    static int count(long list) {
        return Memory.getInt(list + COUNT_OFFSET);
    }

    static void count(long list, int count) {
        Memory.putInt(list + COUNT_OFFSET, count);
    }

    /** Bytes that an entry of this length takes. */
    static long entryBytes(int length) {
        return (long) PackedHashLayout.varintBytes(length) + length;
    }

    static int length(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    /** Where the bytes are of an entry whose length was read. */
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
