package io.varve.memory.collection.tree;

import io.varve.memory.collection.packed.PackedHashLayout;
import io.varve.memory.offheap.Memory;

/**
 * The leaf format for the members of a sorted set with their scores, ordered by score and then by the member's bytes.
 * Immutable.
 *
 * <pre>
 *  +----------------------+--------+--------+
 *  | score as ScoreOrder  | length | member |
 *  | has it, 8            | varint |        |
 *  +----------------------+--------+--------+
 * </pre>
 */
public final class ScoredFormat extends LeafFormat {
    public static final ScoredFormat INSTANCE = new ScoredFormat();

    private static final int LENGTH = Long.BYTES;

    private ScoredFormat() {}

    @Override
    long bytesOf(Element element) {
        return (long) LENGTH + PackedHashLayout.varintBytes(element.length) + element.length;
    }

    @Override
    void write(long entry, Element element) {
        stored(entry, element.stored);
        Memory.copy(element.bytes, PackedHashLayout.putVarint(entry + LENGTH, element.length), element.length);
    }

    @Override
    public int bytesAt(long entry) {
        return bytes(length(entry));
    }

    private static int bytes(int length) {
        return LENGTH + PackedHashLayout.varintBytes(length) + length;
    }

    @Override
    public long orderAt(long entry) {
        return ScoreOrder.order(stored(entry));
    }

    @Override
    public boolean isBefore(long entry, Element sought) {
        long order = orderAt(entry);
        if (order != sought.order) {
            return order < sought.order;
        }
        if (sought.orderOnly) {
            return sought.behindEqual;
        }
        int compared = Memory.compare(address(entry), length(entry), sought.bytes, sought.length);
        return compared < 0 || compared == 0 && sought.behindEqual;
    }

    @Override
    void seek(long leaf, Element sought, TreePath path) {
        path.touched = NodeLayout.touch(leaf);
        int count = NodeLayout.count(leaf);
        long order = sought.order;
        int index = 0;
        long at = leaf + NodeLayout.HEADER_BYTES;
        while (index < count) {
            long there = ScoreOrder.order(stored(at));
            if (there > order || there == order && !isBefore(at, sought)) {
                break;
            }
            at += bytes(length(at));
            index++;
        }
        path.index = index;
        path.offset = (int) (at - leaf);
    }

    @Override
    int offset(long leaf, int index) {
        long at = leaf + NodeLayout.HEADER_BYTES;
        for (int i = 0; i < index; i++) {
            at += bytes(length(at));
        }
        return (int) (at - leaf);
    }

    public static boolean isMember(long entry, long member, int length) {
        return length(entry) == length && Memory.equal(address(entry), member, length);
    }

    public static long stored(long entry) {
        return Memory.getLong(entry);
    }

    public static void stored(long entry, long stored) {
        Memory.putLong(entry, stored);
    }

    public static int length(long entry) {
        return PackedHashLayout.getVarint(entry + LENGTH);
    }

    public static long address(long entry) {
        return entry + LENGTH + PackedHashLayout.varintBytes(length(entry));
    }
}
