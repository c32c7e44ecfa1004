package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * The elements of a list: they have a place and no order. Immutable.
 *
 * <pre>
 *  +----------+-------+
 *  | length   | bytes |
 *  | varint   |       |
 *  +----------+-------+
 * </pre>
 */
final class ListFormat extends LeafFormat {
    static final ListFormat INSTANCE = new ListFormat();

    private ListFormat() {}

    @Override
    long bytesOf(Element element) {
        return (long) PackedHashLayout.varintBytes(element.length) + element.length;
    }

    @Override
    void write(long entry, Element element) {
        Memory.copy(element.bytes, PackedHashLayout.putVarint(entry, element.length), element.length);
    }

    @Override
    int bytesAt(long entry) {
        int length = length(entry);
        return PackedHashLayout.varintBytes(length) + length;
    }

    @Override
    long orderAt(long entry) {
        return 0;
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
