package io.varve.memory.collection.tree;

import io.varve.memory.collection.packed.PackedHashLayout;
import io.varve.memory.offheap.Memory;

/**
 * The leaf format for values under keys, ordered by the keys' unsigned bytes: the blocks of a stream under their IDs,
 * and the records of its groups. Immutable.
 *
 * <pre>
 *  +------------+--------------+-----+-------+
 *  | key length | value length | key | value |
 *  | varint     | varint       |     |       |
 *  +------------+--------------+-----+-------+
 * </pre>
 *
 * <p>Most elements come in ascending order: new blocks, and the pending entries of each group and of each consumer.
 *
 * <p>The order in inner nodes is the first eight bytes of a key, so keys should differ there. A shorter key counts as
 * if zeros followed it.
 */
public final class KeyedFormat extends LeafFormat {
    public static final KeyedFormat INSTANCE = new KeyedFormat();

    /** The continuation bits of two lengths of one byte each. */
    private static final int LONG_LENGTHS = 0x8080;

    private KeyedFormat() {}

    /** The order of a key: its first bytes, for signed comparison. */
    public static long order(long key, int length) {
        return (length >= Long.BYTES ? Long.reverseBytes(Memory.getLong(key)) : shortHead(key, length))
                ^ Long.MIN_VALUE;
    }

    private static long shortHead(long key, int length) {
        if (length >= Integer.BYTES) {
            // Both overlap, where they have the same bits.
            long first = Integer.reverseBytes(Memory.getInt(key));
            long last = Integer.reverseBytes(Memory.getInt(key + length - Integer.BYTES)) & 0xFFFF_FFFFL;
            return first << Integer.SIZE | last << Byte.SIZE * (Long.BYTES - length);
        }
        long head = 0;
        for (int i = 0; i < length; i++) {
            head |= (Memory.getByte(key + i) & 0xFFL) << Long.SIZE - Byte.SIZE * (i + 1);
        }
        return head;
    }

    @Override
    boolean isMostlyAscending() {
        return true;
    }

    @Override
    long bytesOf(Element element) {
        return bytes(element.length, element.valueLength);
    }

    private static long bytes(int keyLength, int valueLength) {
        return (long) PackedHashLayout.varintBytes(keyLength) + PackedHashLayout.varintBytes(valueLength) + keyLength
                + valueLength;
    }

    @Override
    void write(long entry, Element element) {
        long at = PackedHashLayout.putVarint(PackedHashLayout.putVarint(entry, element.length), element.valueLength);
        Memory.copy(element.bytes, at, element.length);
        if (element.value != 0) {
            Memory.copy(element.value, at + element.length, element.valueLength);
        }
    }

    @Override
    public int bytesAt(long entry) {
        return (int) bytes(keyLength(entry), valueLength(entry));
    }

    @Override
    long bytesWithValue(long entry, int valueLength) {
        return bytes(keyLength(entry), valueLength);
    }

    @Override
    void resizeValue(long entry, int valueLength) {
        int oldLength = valueLength(entry);
        long head = entry + PackedHashLayout.varintBytes(keyLength(entry));
        int moved = PackedHashLayout.varintBytes(valueLength) - PackedHashLayout.varintBytes(oldLength);
        if (moved != 0) {
            long key = keyAddress(entry);
            Memory.copy(key, key + moved, (long) keyLength(entry) + Math.min(oldLength, valueLength));
        }
        PackedHashLayout.putVarint(head, valueLength);
    }

    @Override
    public long orderAt(long entry) {
        return order(keyAddress(entry), keyLength(entry));
    }

    @Override
    public boolean isBefore(long entry, Element sought) {
        long order = orderAt(entry);
        if (order != sought.order) {
            return order < sought.order;
        }
        int compared = Memory.compare(keyAddress(entry), keyLength(entry), sought.bytes, sought.length);
        return compared < 0 || compared == 0 && sought.behindEqual;
    }

    @Override
    void seek(long leaf, Element sought, TreePath path) {
        int count = NodeLayout.count(leaf);
        int index = 0;
        long at = leaf + NodeLayout.HEADER_BYTES;
        while (index < count) {
            int lengths = Memory.getShort(at);
            if ((lengths & LONG_LENGTHS) != 0 || (lengths & 0xFF) < Long.BYTES) {
                if (!isBefore(at, sought)) {
                    break;
                }
                at += bytesAt(at);
            } else {
                long key = at + Short.BYTES;
                long order = order(key, Long.BYTES);
                if (order >= sought.order && (order > sought.order || !isBefore(at, sought))) {
                    break;
                }
                at = key + (lengths & 0xFF) + (lengths >>> Byte.SIZE);
            }
            index++;
        }
        path.index = index;
        path.offset = (int) (at - leaf);
    }

    @Override
    int offset(long leaf, int index) {
        long at = leaf + NodeLayout.HEADER_BYTES;
        for (int i = 0; i < index; i++) {
            at += bytesAt(at);
        }
        return (int) (at - leaf);
    }

    public static boolean isKey(long entry, long key, int length) {
        return keyLength(entry) == length && Memory.equal(keyAddress(entry), key, length);
    }

    public static int keyLength(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    private static long lengthOfValue(long entry) {
        return entry + PackedHashLayout.varintBytes(keyLength(entry));
    }

    public static int valueLength(long entry) {
        return PackedHashLayout.getVarint(lengthOfValue(entry));
    }

    public static long keyAddress(long entry) {
        long at = lengthOfValue(entry);
        return at + PackedHashLayout.varintBytes(PackedHashLayout.getVarint(at));
    }

    public static long valueAddress(long entry) {
        return keyAddress(entry) + keyLength(entry);
    }
}
