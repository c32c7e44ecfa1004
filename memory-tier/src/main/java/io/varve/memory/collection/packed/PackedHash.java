package io.varve.memory.collection.packed;

import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;

/**
 * A small hash with consecutive entries in the value of one item, as {@link PackedHashLayout} draws it. Immutable:
 * static methods only; the caller holds the lock of the item's shard.
 *
 * <p>A hash is named by the address and the length in bytes of its value, an entry by its own address. Fields keep the
 * order of their insertion, and a new value replaces the old one in place. A growing write has two steps: the caller
 * computes the size ({@link #entryBytes}) and resizes the item, which may move the hash; then it writes. A shrinking
 * write writes first and returns the new length.
 *
 * <p>A search is linear. It compares lengths before bytes, so an entry that does not match costs two bytes read.
 *
 * <p>A field may have a time, from which on it is <em>due</em>. The methods of this class treat due fields like all
 * others.
 */
public final class PackedHash {
    /** The result of {@link #find} and {@link #next} if there is no entry. */
    public static final long NONE = 0;
    /** Bytes of a hash without entries. */
    public static final int EMPTY_BYTES = PackedHashLayout.ENTRIES_OFFSET;

    private PackedHash() {}

    /** Writes an empty hash of {@link #EMPTY_BYTES}. */
    public static void clear(long hash) {
        PackedHashLayout.count(hash, 0);
    }

    /** The number of fields. */
    public static int count(long hash) {
        return PackedHashLayout.count(hash);
    }

    /** Bytes of an entry with these lengths. */
    public static long entryBytes(int fieldLength, int valueLength) {
        return entryBytes(fieldLength, valueLength, Item.NEVER);
    }

    /** Bytes of an entry with these lengths and a time, or {@link Item#NEVER}. */
    public static long entryBytes(int fieldLength, int valueLength, long time) {
        return (long) PackedHashLayout.varintBytes(fieldLength)
                + PackedHashLayout.headBytes(PackedHashLayout.stored(valueLength, time)) + fieldLength + valueLength;
    }

    // --- lookups

    /** The entry of a field, or {@link #NONE}. */
    public static long find(long hash, int length, long field, int fieldLength) {
        long end = hash + length;
        long entry = hash + PackedHashLayout.ENTRIES_OFFSET;
        while (entry < end) {
            int entryFieldLength = PackedHashLayout.getVarint(entry);
            long valueLengthAt = entry + PackedHashLayout.varintBytes(entryFieldLength);
            int storedValueLength = PackedHashLayout.getVarint(valueLengthAt);
            long entryField = valueLengthAt + PackedHashLayout.headBytes(storedValueLength);
            if (entryFieldLength == fieldLength && Memory.equal(entryField, field, fieldLength)) {
                return entry;
            }
            entry = entryField + entryFieldLength + PackedHashLayout.length(storedValueLength);
        }
        return NONE;
    }

    /** The first entry, or {@link #NONE}. */
    public static long first(long hash, int length) {
        return length > PackedHashLayout.ENTRIES_OFFSET ? hash + PackedHashLayout.ENTRIES_OFFSET : NONE;
    }

    /** The entry after this one, or {@link #NONE}. */
    public static long next(long hash, int length, long entry) {
        long next = end(entry);
        return next < hash + length ? next : NONE;
    }

    public static int fieldLength(long entry) {
        return PackedHashLayout.getVarint(entry);
    }

    public static long fieldAddress(long entry) {
        long head = head(entry);
        return head + PackedHashLayout.headBytes(PackedHashLayout.getVarint(head));
    }

    public static int valueLength(long entry) {
        return PackedHashLayout.length(PackedHashLayout.getVarint(head(entry)));
    }

    /** The field's time, milliseconds since the epoch, or {@link Item#NEVER}. */
    public static long time(long entry) {
        return PackedHashLayout.time(head(entry));
    }

    private static long head(long entry) {
        return entry + PackedHashLayout.varintBytes(fieldLength(entry));
    }

    public static long valueAddress(long entry) {
        return fieldAddress(entry) + fieldLength(entry);
    }

    /** Bytes of an entry. */
    public static long entryBytes(long entry) {
        return end(entry) - entry;
    }

    private static long end(long entry) {
        return valueAddress(entry) + valueLength(entry);
    }

    // --- writes

    /**
     * Appends an entry for a missing field. The value's capacity must exceed its length by
     * {@link #entryBytes(int, int)}.
     *
     * @return the new length of the hash
     */
    public static int append(long hash, int length, long field, int fieldLength, long value, int valueLength) {
        return append(hash, length, field, fieldLength, value, valueLength, Item.NEVER);
    }

    /** Appends an entry for a missing field with a time, or {@link Item#NEVER}. The capacity must allow it. */
    public static int append(long hash, int length, long field, int fieldLength, long value, int valueLength,
            long time) {
        long at = putLengths(hash + length, fieldLength, valueLength, time);
        Memory.copy(field, at, fieldLength);
        Memory.copy(value, at + fieldLength, valueLength);
        PackedHashLayout.count(hash, PackedHashLayout.count(hash) + 1);
        return (int) (at + fieldLength + valueLength - hash);
    }

    /**
     * Replaces the value of an entry's field and removes its time; the bytes behind move. The capacity must allow the
     * difference of the entry's sizes. The new value must not lie in the hash.
     *
     * @return the new length of the hash
     */
    public static int replace(long hash, int length, long entry, long value, int valueLength) {
        return replace(hash, length, entry, value, valueLength, Item.NEVER);
    }

    /** Replaces the value and the time of an entry's field, where {@link Item#NEVER} means no time. */
    public static int replace(long hash, int length, long entry, long value, int valueLength, long time) {
        int fieldLength = fieldLength(entry);
        int oldStored = PackedHashLayout.getVarint(head(entry));
        if (oldStored == valueLength && time == Item.NEVER) {
            Memory.copy(value, valueAddress(entry), valueLength);
            return length;
        }
        long oldField = fieldAddress(entry);
        long oldEnd = oldField + fieldLength + PackedHashLayout.length(oldStored);
        long newEnd = entry + entryBytes(fieldLength, valueLength, time);
        long newField = newEnd - valueLength - fieldLength;
        // The field's bytes move by a few when the width of the value's length changes. The order of the two moves
        // depends on the direction, so that neither the field nor the tail is overwritten before it has moved.
        if (newEnd < oldEnd) {
            Memory.copy(oldField, newField, fieldLength);
            Memory.copy(oldEnd, newEnd, hash + length - oldEnd);
        } else {
            Memory.copy(oldEnd, newEnd, hash + length - oldEnd);
            Memory.copy(oldField, newField, fieldLength);
        }
        putLengths(entry, fieldLength, valueLength, time);
        Memory.copy(value, newField + fieldLength, valueLength);
        return (int) (length + newEnd - oldEnd);
    }

    /**
     * Sets or removes ({@link Item#NEVER}) the time of an entry's field; the bytes behind move. The capacity must allow
     * the difference of the entry's sizes.
     *
     * @return the new length of the hash
     */
    public static int time(long hash, int length, long entry, long time) {
        int fieldLength = fieldLength(entry);
        int valueLength = valueLength(entry);
        long oldField = fieldAddress(entry);
        long newField = entry + entryBytes(fieldLength, valueLength, time) - valueLength - fieldLength;
        Memory.copy(oldField, newField, hash + length - oldField);
        putLengths(entry, fieldLength, valueLength, time);
        return (int) (length + newField - oldField);
    }

    /**
     * Removes an entry; the bytes behind move down.
     *
     * @return the new length of the hash
     */
    public static int remove(long hash, int length, long entry) {
        long end = end(entry);
        Memory.copy(end, entry, hash + length - end);
        PackedHashLayout.count(hash, PackedHashLayout.count(hash) - 1);
        return (int) (length - (end - entry));
    }

    private static long putLengths(long entry, int fieldLength, int valueLength, long time) {
        return PackedHashLayout.putHead(PackedHashLayout.putVarint(entry, fieldLength), valueLength, time);
    }

    // --- times

    /** Whether an entry's field is due. */
    public static boolean isDue(long entry, long nowMillis) {
        long time = time(entry);
        return time != Item.NEVER && time < nowMillis;
    }

    /** The number of due fields. */
    public static int countDue(long hash, int length, long nowMillis) {
        int due = 0;
        for (long entry = first(hash, length); entry != NONE; entry = next(hash, length, entry)) {
            due += isDue(entry, nowMillis) ? 1 : 0;
        }
        return due;
    }

    /** Whether any field is not due. */
    public static boolean hasLasting(long hash, int length, long nowMillis) {
        for (long entry = first(hash, length); entry != NONE; entry = next(hash, length, entry)) {
            if (!isDue(entry, nowMillis)) {
                return true;
            }
        }
        return false;
    }

    /**
     * The earliest time of a field that is not due, or {@link Item#NEVER}; with {@code nowMillis} 0, that of all
     * fields.
     */
    public static long earliest(long hash, int length, long nowMillis) {
        long earliest = Item.NEVER;
        for (long entry = first(hash, length); entry != NONE; entry = next(hash, length, entry)) {
            long time = time(entry);
            if (time >= nowMillis && (earliest == Item.NEVER || time < earliest)) {
                earliest = time;
            }
        }
        return earliest;
    }

    /**
     * The earliest time of all fields, or {@link Item#NEVER}, of a hash in an array, from {@code from} up to
     * {@code to}.
     */
    public static long earliest(byte[] bytes, int from, int to) {
        long earliest = Item.NEVER;
        for (int entry = from + PackedHashLayout.ENTRIES_OFFSET; entry < to;) {
            long time = PackedHashLayout.time(bytes, entry);
            if (time != Item.NEVER && (earliest == Item.NEVER || time < earliest)) {
                earliest = time;
            }
            entry = PackedHashLayout.end(bytes, entry);
        }
        return earliest;
    }

    /** The time at which the last field is due, or {@link Item#NEVER} if a field has no time. */
    public static long latest(long hash, int length) {
        long latest = Item.NEVER;
        for (long entry = first(hash, length); entry != NONE; entry = next(hash, length, entry)) {
            long time = time(entry);
            if (time == Item.NEVER) {
                return Item.NEVER;
            }
            latest = Math.max(latest, time);
        }
        return latest;
    }

    /**
     * Removes the entries of all due fields.
     *
     * @return the new length of the hash
     */
    public static int removeDue(long hash, int length, long nowMillis) {
        long entry = hash + PackedHashLayout.ENTRIES_OFFSET;
        long end = hash + length;
        long kept = entry;
        int count = 0;
        while (entry < end) {
            long next = end(entry);
            if (!isDue(entry, nowMillis)) {
                if (kept != entry) {
                    Memory.copy(entry, kept, next - entry);
                }
                kept += next - entry;
                count++;
            }
            entry = next;
        }
        PackedHashLayout.count(hash, count);
        return (int) (kept - hash);
    }
}
