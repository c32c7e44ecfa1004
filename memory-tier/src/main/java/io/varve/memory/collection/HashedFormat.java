package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * The members of a set, or the fields of a hash with their values, ordered by 32 bits of their hash; those of equal hash lie
 * in no order. Immutable.
 *
 * <pre>
 *  set:                                hash:
 *  +------+--------+--------+          +------+--------+--------------+-------+-------+
 *  | hash | length | member |          | hash | length | value length | field | value |
 *  | 4    | varint |        |          | 4    | varint | varint       |       |       |
 *  +------+--------+--------+          +------+--------+--------------+-------+-------+
 * </pre>
 */
final class HashedFormat extends LeafFormat {
    static final HashedFormat SET = new HashedFormat(false);
    static final HashedFormat HASH = new HashedFormat(true);

    private static final int LENGTH = Integer.BYTES;
    private static final long HASH_MASK = 0xFFFF_FFFFL;

    private final boolean hasValues;

    private HashedFormat(boolean hasValues) {
        this.hasValues = hasValues;
    }

    @Override
    long bytesOf(Element element) {
        long bytes = (long) LENGTH + PackedHashLayout.varintBytes(element.length) + element.length;
        return hasValues ? bytes + PackedHashLayout.varintBytes(element.valueLength) + element.valueLength : bytes;
    }

    @Override
    void write(long entry, Element element) {
        Memory.putInt(entry, (int) element.order);
        long at = PackedHashLayout.putVarint(entry + LENGTH, element.length);
        if (hasValues) {
            at = PackedHashLayout.putVarint(at, element.valueLength);
        }
        Memory.copy(element.bytes, at, element.length);
        if (hasValues) {
            Memory.copy(element.value, at + element.length, element.valueLength);
        }
    }

    @Override
    int bytesAt(long entry) {
        int length = memberLength(entry);
        int bytes = LENGTH + PackedHashLayout.varintBytes(length) + length;
        if (hasValues) {
            int valueLength = valueLength(entry);
            bytes += PackedHashLayout.varintBytes(valueLength) + valueLength;
        }
        return bytes;
    }

    @Override
    long orderAt(long entry) {
        return hash(entry);
    }

    @Override
    boolean isBefore(long entry, Element sought) {
        long hash = hash(entry);
        return hash < sought.order || sought.behindEqual && hash == sought.order;
    }

    boolean isMember(long entry, long member, int length) {
        return memberLength(entry) == length && Memory.equal(memberAddress(entry), member, length);
    }

    static long hash(long entry) {
        return Memory.getInt(entry) & HASH_MASK;
    }

    static int memberLength(long entry) {
        return PackedHashLayout.getVarint(entry + LENGTH);
    }

    long memberAddress(long entry) {
        long at = entry + LENGTH + PackedHashLayout.varintBytes(memberLength(entry));
        return hasValues ? at + PackedHashLayout.varintBytes(PackedHashLayout.getVarint(at)) : at;
    }

    /** Only where there are values. */
    int valueLength(long entry) {
        assert hasValues;
        return PackedHashLayout.getVarint(entry + LENGTH + PackedHashLayout.varintBytes(memberLength(entry)));
    }

    long valueAddress(long entry) {
        return memberAddress(entry) + memberLength(entry);
    }
}
