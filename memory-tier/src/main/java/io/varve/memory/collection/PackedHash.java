package io.varve.memory.collection;

import io.varve.memory.item.Item;
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
 *
 * <p>A field may have a time, from which on it is <em>due</em>. All that is here shows due fields like others.
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
        return entryBytes(fieldLength, valueLength, Item.NEVER);
    }

    /** The same for a field with a time, or with {@link Item#NEVER}. */
    public static long entryBytes(int fieldLength, int valueLength, long time) {
        return (long) PackedHashLayout.varintBytes(fieldLength)
                + PackedHashLayout.headBytes(PackedHashLayout.stored(valueLength, time)) + fieldLength + valueLength;
    }

    // --- look

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

    /** The entry behind this one, or {@link #NONE}. */
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

    /** Bytes that an entry takes. */
    public static long entryBytes(long entry) {
        return end(entry) - entry;
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
        return append(hash, length, field, fieldLength, value, valueLength, Item.NEVER);
    }

    /** The same for a field with a time, or with {@link Item#NEVER}. */
    public static int append(long hash, int length, long field, int fieldLength, long value, int valueLength,
            long time) {
        long at = putLengths(hash + length, fieldLength, valueLength, time);
        Memory.copy(field, at, fieldLength);
        Memory.copy(value, at + fieldLength, valueLength);
        PackedHashLayout.count(hash, PackedHashLayout.count(hash) + 1);
        return (int) (at + fieldLength + valueLength - hash);
    }

    /**
     * Puts another value under an entry's field, which has no time then; what lies behind moves up or down. The hash's memory has
     * room for the difference of the entry's sizes. The value does not lie in the hash.
     *
     * @return the new length of the hash
     */
    public static int replace(long hash, int length, long entry, long value, int valueLength) {
        return replace(hash, length, entry, value, valueLength, Item.NEVER);
    }

    /** The same with a time that the field has then, or with {@link Item#NEVER}. */
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
        // The field's bytes move by a few when the width of the value's length changes. Who moves first depends on the
        // direction, so that neither the field nor the tail is overwritten before it has moved.
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
     * Gives an entry's field a time, or takes it away ({@link Item#NEVER}); what lies behind moves. The hash's memory has room for the
     * difference of the entry's sizes.
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

    private static long putLengths(long entry, int fieldLength, int valueLength, long time) {
        return PackedHashLayout.putHead(PackedHashLayout.putVarint(entry, fieldLength), valueLength, time);
    }

    // --- times

    /** Whether an entry's field is due. */
    public static boolean isDue(long entry, long nowMillis) {
        long time = time(entry);
        return time != Item.NEVER && time < nowMillis;
    }

    /** How many fields are due. */
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

    /** The earliest time of a field that is not due, or {@link Item#NEVER}; from time 0 on it is that of all. */
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

    /** The earliest time of all fields, or {@link Item#NEVER}, of a hash that lies in bytes on the heap, from and to these. */
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

    /** When the last field is due, or {@link Item#NEVER} if one has no time. */
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
     * Takes the entries of all due fields out.
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
