package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * A small list with consecutive elements in the value of one item, as {@link PackedListLayout} draws it. Immutable:
 * static methods only; the caller holds the lock of the item's shard.
 *
 * <p>A list is named by the address and the length in bytes of its value. An entry is named by its offset in the value,
 * which stays valid when the value moves. A growing write has two steps: the caller computes the size
 * ({@link #entryBytes}) and resizes the item, which may move the list; then it writes. A shrinking write writes first
 * and returns the new length.
 */
public final class PackedList {
    /** Bytes of a list without elements; also the offset of the first entry. */
    public static final int EMPTY_BYTES = PackedListLayout.ENTRIES_OFFSET;

    private PackedList() {}

    /** Writes an empty list of {@link #EMPTY_BYTES}. */
    public static void clear(long list) {
        PackedListLayout.count(list, 0);
    }

    /** The number of elements. */
    public static int count(long list) {
        return PackedListLayout.count(list);
    }

    /** Bytes of an element of this length. */
    public static long entryBytes(int elementLength) {
        return PackedListLayout.entryBytes(elementLength);
    }

    // --- lookups

    public static int elementLength(long list, int offset) {
        return PackedListLayout.length(list + offset);
    }

    public static long elementAddress(long list, int offset) {
        long entry = list + offset;
        return PackedListLayout.bytes(entry, PackedListLayout.length(entry));
    }

    /** The offset of the next entry; after the last, the list's length in bytes. */
    public static int next(long list, int offset) {
        long entry = list + offset;
        int length = PackedListLayout.length(entry);
        return (int) (PackedListLayout.bytes(entry, length) + length - list);
    }

    /** The offset of the entry this many behind another. */
    public static int skip(long list, int offset, int entries) {
        int at = offset;
        for (int i = 0; i < entries; i++) {
            at = next(list, at);
        }
        return at;
    }

    public static boolean isEqual(long list, int offset, long element, int elementLength) {
        long entry = list + offset;
        return PackedListLayout.length(entry) == elementLength
                && Memory.equal(PackedListLayout.bytes(entry, elementLength), element, elementLength);
    }

    /** The number of elements equal to this one. */
    public static int countEqual(long list, int length, long element, int elementLength) {
        int found = 0;
        for (int at = EMPTY_BYTES; at < length; at = next(list, at)) {
            found += isEqual(list, at, element, elementLength) ? 1 : 0;
        }
        return found;
    }

    // --- writes

    /**
     * Opens a gap, to be filled by {@link #write}, before the entry at an offset or at the end. The capacity must allow
     * it.
     *
     * @param entries the number of entries that will be written
     */
    public static void open(long list, int length, int offset, int bytes, int entries) {
        Memory.copy(list + offset, list + offset + bytes, (long) length - offset);
        PackedListLayout.count(list, PackedListLayout.count(list) + entries);
    }

    /** Writes an entry into a gap. @return the offset behind it */
    public static int write(long list, int offset, long element, int elementLength) {
        return (int) (PackedListLayout.write(list + offset, element, elementLength) - list);
    }

    /**
     * Replaces an entry's element; the bytes behind move. The capacity must allow the difference. The element must not
     * lie in the list.
     *
     * @return the new length of the list
     */
    public static int replace(long list, int length, int offset, long element, int elementLength) {
        int oldEnd = next(list, offset);
        int newEnd = (int) (offset + entryBytes(elementLength));
        if (newEnd != oldEnd) {
            Memory.copy(list + oldEnd, list + newEnd, (long) length - oldEnd);
        }
        PackedListLayout.write(list + offset, element, elementLength);
        return length + newEnd - oldEnd;
    }

    /**
     * Removes the entries from one offset up to another; the bytes behind move down.
     *
     * @param entries their number
     * @return the new length of the list
     */
    public static int remove(long list, int length, int from, int to, int entries) {
        Memory.copy(list + to, list + from, (long) length - to);
        PackedListLayout.count(list, PackedListLayout.count(list) - entries);
        return length - (to - from);
    }

    /**
     * Removes elements equal to this one, which must not lie in the list.
     *
     * @param skipped the number of first matches to keep
     * @param max the most matches to remove after those
     * @return the new length of the list
     */
    public static int removeEqual(long list, int length, long element, int elementLength, int skipped, int max) {
        int to = EMPTY_BYTES;
        int equal = 0;
        int removed = 0;
        int at = EMPTY_BYTES;
        while (at < length && removed < max) {
            int next = next(list, at);
            if (isEqual(list, at, element, elementLength) && equal++ >= skipped) {
                removed++;
            } else {
                if (to != at) {
                    Memory.copy(list + at, list + to, (long) next - at);
                }
                to += next - at;
            }
            at = next;
        }
        return remove(list, length, to, at, removed);
    }

    /**
     * Moves the last element to the start. The capacity must exceed the length by {@link #entryBytes} of that element.
     *
     * @param last offset of the last entry
     */
    public static void lastToFirst(long list, int length, int last) {
        int bytes = length - last;
        Memory.copy(list + EMPTY_BYTES, list + EMPTY_BYTES + bytes, (long) length - EMPTY_BYTES);
        Memory.copy(list + length, list + EMPTY_BYTES, bytes);
    }

    /** Moves the first element to the end; see {@link #lastToFirst}. */
    public static void firstToLast(long list, int length) {
        int second = next(list, EMPTY_BYTES);
        Memory.copy(list + EMPTY_BYTES, list + length, (long) second - EMPTY_BYTES);
        Memory.copy(list + second, list + EMPTY_BYTES, (long) length - EMPTY_BYTES);
    }
}
