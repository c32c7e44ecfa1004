package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * A hash whose entries lie one behind the other in the value of one item, as {@link PackedHashLayout} draws it.
 * Immutable: static methods only; the caller holds the lock of the item's shard.
 *
 * <p>A hash is named by the address and the length in bytes of its value, an entry by its own address. Fields keep the
 * order in which they first came; a new value takes its old one's place. What makes a hash longer is done in two steps:
 * the caller computes the size ({@link #entryBytes}), makes the room, which may move the hash, and then writes. What
 * makes it shorter writes first and tells the new length.
 *
 * <p>A search is linear: it compares lengths before bytes, so an entry that does not match costs two bytes read.
 */
public final class PackedHash {
    /** What {@link #find} and {@link #next} answer when there is none. */
    public static final long NONE = 0;
    /** Bytes of a hash without entries. */
    public static final int EMPTY_BYTES = PackedHashLayout.ENTRIES_OFFSET;

    private PackedHash() {}

    /** Makes an empty hash of {@link #EMPTY_BYTES}. */
    public static void clear(long hash) {
        PackedHashLayout.count(hash, 0);
    }

    /** How many fields it has. */
    public static int count(long hash) {
        return PackedHashLayout.count(hash);
    }

    /** Bytes that an entry with these lengths takes. */
    public static long entryBytes(int fieldLength, int valueLength) {
        return (long) PackedHashLayout.varintBytes(fieldLength) + PackedHashLayout.varintBytes(valueLength)
                + fieldLength + valueLength;
    }

    // --- look

    /** The entry of a field, or {@link #NONE}. */
    public static long find(long hash, int length, long field, int fieldLength) {
        long end = hash + length;
        long entry = hash + PackedHashLayout.ENTRIES_OFFSET;
        while (entry < end) {
            int entryFieldLength = PackedHashLayout.getVarint(entry);
            long valueLengthAt = entry + PackedHashLayout.varintBytes(entryFieldLength);
            int entryValueLength = PackedHashLayout.getVarint(valueLengthAt);
            long entryField = valueLengthAt + PackedHashLayout.varintBytes(entryValueLength);
            if (entryFieldLength == fieldLength && Memory.equal(entryField, field, fieldLength)) {
                return entry;
            }
            entry = entryField + entryFieldLength + entryValueLength;
        }
        return NONE;
    }

    /** The first entry, or {@link #NONE}. */
    public static long first(long hash, int length) {
        return length > PackedHashLayout.ENTRIES_OFFSET ? hash + PackedHashLayout.ENTRIES_OFFSET : NONE;
    }

    /** The entry behind this one, or {@link #NONE}. */
    public static long next(long hash, int length, long entry) {
        long next = end(entry);
        return next < hash + length ? next : NONE;
    }

    public static int fieldLength(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    public static long fieldAddress(long entry) {
        long valueLengthAt = entry + PackedHashLayout.varintBytes(fieldLength(entry));
        return valueLengthAt + PackedHashLayout.varintBytes(PackedHashLayout.getVarint(valueLengthAt));
    }

    public static int valueLength(long entry) {
        return PackedHashLayout.getVarint(entry + PackedHashLayout.varintBytes(fieldLength(entry)));
    }

    public static long valueAddress(long entry) {
        return fieldAddress(entry) + fieldLength(entry);
    }

    /** Bytes that an entry takes. */
    public static long entryBytes(long entry) {
        return entryBytes(fieldLength(entry), valueLength(entry));
    }

    private static long end(long entry) {
        return valueAddress(entry) + valueLength(entry);
    }

    // --- write

    /**
     * Adds an entry at the end, for a field that is not there yet. The hash's memory has room for
     * {@link #entryBytes(int, int)} more than its length.
     *
     * @return the new length of the hash
     */
    public static int append(long hash, int length, long field, int fieldLength, long value, int valueLength) {
        long at = putLengths(hash + length, fieldLength, valueLength);
        Memory.copy(field, at, fieldLength);
        Memory.copy(value, at + fieldLength, valueLength);
        PackedHashLayout.count(hash, PackedHashLayout.count(hash) + 1);
        return (int) (at + fieldLength + valueLength - hash);
    }

    /**
     * Puts another value under an entry's field; what lies behind moves up or down. The hash's memory has room for the
     * difference of the entry's sizes. The value does not lie in the hash.
     *
     * @return the new length of the hash
     */
    public static int replace(long hash, int length, long entry, long value, int valueLength) {
        int fieldLength = fieldLength(entry);
        int oldValueLength = valueLength(entry);
        if (oldValueLength == valueLength) {
            Memory.copy(value, valueAddress(entry), valueLength);
            return length;
        }
        long oldField = fieldAddress(entry);
        long oldEnd = oldField + fieldLength + oldValueLength;
        long newEnd = entry + entryBytes(fieldLength, valueLength);
        long newField = newEnd - valueLength - fieldLength;
        // The field's bytes move by a few when the width of the value's length changes. Who moves first depends on the
        // direction, so that neither the field nor the tail is overwritten before it has moved.
        if (newEnd < oldEnd) {
            Memory.copy(oldField, newField, fieldLength);
            Memory.copy(oldEnd, newEnd, hash + length - oldEnd);
        } else {
            Memory.copy(oldEnd, newEnd, hash + length - oldEnd);
            Memory.copy(oldField, newField, fieldLength);
        }
        putLengths(entry, fieldLength, valueLength);
        Memory.copy(value, newField + fieldLength, valueLength);
        return (int) (length + newEnd - oldEnd);
    }

    /**
     * Takes an entry out; what lies behind moves down.
     *
     * @return the new length of the hash
     */
    public static int remove(long hash, int length, long entry) {
        long end = end(entry);
        Memory.copy(end, entry, hash + length - end);
        PackedHashLayout.count(hash, PackedHashLayout.count(hash) - 1);
        return (int) (length - (end - entry));
    }

    private static long putLengths(long entry, int fieldLength, int valueLength) {
        return PackedHashLayout.putVarint(PackedHashLayout.putVarint(entry, fieldLength), valueLength);
    }
}
