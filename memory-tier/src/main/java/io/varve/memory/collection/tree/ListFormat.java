package io.varve.memory.collection.tree;

import io.varve.memory.collection.packed.PackedHashLayout;
import io.varve.memory.offheap.Memory;

/**
 * The leaf format for the elements of a list, which have a position and no order. Immutable.
 *
 * <pre>
 *  +----------+-------+-------------------+
 *  | length   | bytes | length, backwards |
 *  | varint   |       | varint            |
 *  +----------+-------+-------------------+
 * </pre>
 *
 * <p>The second length is read backwards from its end. An entry of the upper half is thus found from the leaf's end,
 * and the last one, which RPOP takes, at once.
 */
public final class ListFormat extends LeafFormat {
    public static final ListFormat INSTANCE = new ListFormat();

    private ListFormat() {}

    @Override
    public long bytesOf(Element element) {
        return 2L * PackedHashLayout.varintBytes(element.length) + element.length;
    }

    @Override
    public void write(long entry, Element element) {
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

    /** The length whose last byte is before an address. */
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
    public int bytesAt(long entry) {
        return bytes(length(entry));
    }

    private static int bytes(int length) {
        return 2 * PackedHashLayout.varintBytes(length) + length;
    }

    @Override
    public int offset(long leaf, int index) {
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
    public long orderAt(long entry) {
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

    public static int length(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    public static long address(long entry) {
        return entry + PackedHashLayout.varintBytes(length(entry));
    }
}
