package io.varve.memory.collection.tree;

import io.varve.memory.collection.packed.PackedHashLayout;
import io.varve.memory.offheap.Memory;

/**
 * The leaf format for the members of a set, or the fields of a hash with their values. Immutable. Entries are ordered
 * by 32 bits of their hash; those with equal hashes are in no order.
 *
 * <pre>
 *  set:                                hash:
 *  +------+--------+--------+          +------+--------+--------------+-------+-------+
 *  | hash | length | member |          | hash | length | value length | field | value |
 *  | 4    | varint |        |          | 4    | varint | varint       |       |       |
 *  +------+--------+--------+          +------+--------+--------------+-------+-------+
 * </pre>
 *
 * <p>A field's time follows the length of its value, as {@link PackedHashLayout} draws it.
 */
public final class HashedFormat extends LeafFormat {
    public static final HashedFormat SET = new HashedFormat(false);
    public static final HashedFormat HASH = new HashedFormat(true);

    private static final int LENGTH = Integer.BYTES;
    private static final long HASH_MASK = 0xFFFF_FFFFL;

    private final boolean hasValues;

    private HashedFormat(boolean hasValues) {
        this.hasValues = hasValues;
    }

    @Override
    boolean hasEvenOrder() {
        return true;
    }

    @Override
    long bytesOf(Element element) {
        long bytes = (long) LENGTH + PackedHashLayout.varintBytes(element.length) + element.length;
        return hasValues
                ? bytes + PackedHashLayout.headBytes(PackedHashLayout.stored(element.valueLength, element.time))
                        + element.valueLength
                : bytes;
    }

    @Override
    void write(long entry, Element element) {
        Memory.putInt(entry, (int) element.order);
        long at = PackedHashLayout.putVarint(entry + LENGTH, element.length);
        if (hasValues) {
            at = PackedHashLayout.putHead(at, element.valueLength, element.time);
        }
        Memory.copy(element.bytes, at, element.length);
        if (hasValues) {
            Memory.copy(element.value, at + element.length, element.valueLength);
        }
    }

    @Override
    public int bytesAt(long entry) {
        return hasValues ? bytesOfField(entry) : bytesOfMember(entry);
    }

    private static int bytesOfMember(long entry) {
        int length = memberLength(entry);
        return LENGTH + PackedHashLayout.varintBytes(length) + length;
    }

    private static int bytesOfField(long entry) {
        int bytes = bytesOfMember(entry);
        int stored = PackedHashLayout.getVarint(head(entry));
        return bytes + PackedHashLayout.headBytes(stored) + PackedHashLayout.length(stored);
    }

    @Override
    public long orderAt(long entry) {
        return hash(entry);
    }

    @Override
    boolean isBefore(long entry, Element sought) {
        long hash = hash(entry);
        return hash < sought.order || sought.behindEqual && hash == sought.order;
    }

    @Override
    void seek(long leaf, Element sought, TreePath path) {
        path.touched = NodeLayout.touch(leaf);
        int count = NodeLayout.count(leaf);
        long bound = sought.behindEqual ? sought.order + 1 : sought.order;
        int index = 0;
        long at = leaf + NodeLayout.HEADER_BYTES;
        while (index < count && hash(at) < bound) {
            at += hasValues ? bytesOfField(at) : bytesOfMember(at);
            index++;
        }
        path.index = index;
        path.offset = (int) (at - leaf);
    }

    @Override
    int offset(long leaf, int index) {
        long at = leaf + NodeLayout.HEADER_BYTES;
        for (int i = 0; i < index; i++) {
            at += hasValues ? bytesOfField(at) : bytesOfMember(at);
        }
        return (int) (at - leaf);
    }

    public boolean isMember(long entry, long member, int length) {
        return memberLength(entry) == length && Memory.equal(memberAddress(entry), member, length);
    }

    public static long hash(long entry) {
        return Memory.getInt(entry) & HASH_MASK;
    }

    public static int memberLength(long entry) {
        return PackedHashLayout.getVarint(entry + LENGTH);
    }

    public long memberAddress(long entry) {
        long at = entry + LENGTH + PackedHashLayout.varintBytes(memberLength(entry));
        return hasValues ? at + PackedHashLayout.headBytes(PackedHashLayout.getVarint(at)) : at;
    }

    /** The address of the value's length, in an entry that has a value. */
    private static long head(long entry) {
        return entry + LENGTH + PackedHashLayout.varintBytes(memberLength(entry));
    }

    /** The length of the value; only for the hash format. */
    public int valueLength(long entry) {
        assert hasValues;
        return PackedHashLayout.length(PackedHashLayout.getVarint(head(entry)));
    }

    /** The time of a field, or {@link io.varve.memory.item.Item#NEVER}; only for the hash format. */
    public long time(long entry) {
        assert hasValues;
        return PackedHashLayout.time(head(entry));
    }

    public long valueAddress(long entry) {
        return memberAddress(entry) + memberLength(entry);
    }
}
