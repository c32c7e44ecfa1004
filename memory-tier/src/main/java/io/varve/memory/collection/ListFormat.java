package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * The elements of a list: they have a place and no order. Immutable.
 *
 * <pre>
 *  +----------+-------+-------------------+
 *  | length   | bytes | length, backwards |
 *  | varint   |       | varint            |
 *  +----------+-------+-------------------+
 * </pre>
 *
 * <p>The second length is read from its end towards the start: so an entry of the upper half is found from the leaf's end, and the last one,
 * which RPOP takes, at once.
 */
final class ListFormat extends LeafFormat {
    static final ListFormat INSTANCE = new ListFormat();

    private ListFormat() {}

    @Override
    long bytesOf(Element element) {
        return 2L * PackedHashLayout.varintBytes(element.length) + element.length;
    }

    @Override
    void write(long entry, Element element) {
        long bytes = PackedHashLayout.putVarint(entry, element.length);
        Memory.copy(element.bytes, bytes, element.length);
        putBackwards(bytes + element.length, element.length);
    }

    private static void putBackwards(long address, int length) {
        long at = address + PackedHashLayout.varintBytes(length);
        int rest = length;
        while (rest > PackedHashLayout.VARINT_MASK) {
            Memory.putByte(--at, (byte) (rest | ~PackedHashLayout.VARINT_MASK));
            rest >>>= PackedHashLayout.VARINT_BITS;
        }
        Memory.putByte(--at, (byte) rest);
    }

    /** The length whose last byte is in front of an address. */
    private static int getBackwards(long end) {
        byte last = Memory.getByte(end - 1);
        return last >= 0 ? last : getLongBackwards(end);
    }

    private static int getLongBackwards(long end) {
        long at = end;
        int length = 0;
        int shift = 0;
        while (true) {
            byte next = Memory.getByte(--at);
            length |= (next & PackedHashLayout.VARINT_MASK) << shift;
            if (next >= 0) {
                return length;
            }
            shift += PackedHashLayout.VARINT_BITS;
        }
    }

    @Override
    int bytesAt(long entry) {
        return bytes(length(entry));
    }

    private static int bytes(int length) {
        return 2 * PackedHashLayout.varintBytes(length) + length;
    }

    @Override
    int offset(long leaf, int index) {
        int count = NodeLayout.count(leaf);
        if (index <= count / 2) {
            long at = leaf + NodeLayout.HEADER_BYTES;
            for (int i = 0; i < index; i++) {
                at += bytes(length(at));
            }
            return (int) (at - leaf);
        }
        long at = leaf + NodeLayout.used(leaf);
        for (int i = count; i > index; i--) {
            at -= bytes(getBackwards(at));
        }
        return (int) (at - leaf);
    }

    @Override
    long orderAt(long entry) {
        return 0;
    }

    @Override
    void seek(long leaf, Element sought, TreePath path) {
        throw new IllegalStateException("A list is not searched by order");
    }

    @Override
    boolean isBefore(long entry, Element sought) {
        throw new IllegalStateException("A list is not searched by order");
    }

    static int length(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    static long address(long entry) {
        return entry + PackedHashLayout.varintBytes(length(entry));
    }
}
