package io.varve.server.command.value;

import io.varve.memory.Cache;
import io.varve.memory.offheap.Memory;

/**
 * A list of sorted set members with their scores, by address, off the heap. Confined to its event loop; reused from
 * command to command. It is valid while the shards of the sets are locked and the sets do not change.
 *
 * <pre>
 *  0                8        12       16       24       32
 *  +----------------+--------+--------+--------+--------+
 *  | member address | length | hash   | score  | note   |
 *  +----------------+--------+--------+--------+--------+
 * </pre>
 */
public final class MemberList {
    /** The orders of {@link #sort}. */
    public enum Order {
        /** By score, then by the members' unsigned bytes: the order of a sorted set. */
        SCORE,
        /** The reverse of {@link #SCORE}. */
        SCORE_DESCENDING,
        /**
         * By text, unsigned; the note is its address and the hash its length. Entries without text, of length -1, come
         * first. Stable.
         */
        TEXT,
        /** The reverse of {@link #TEXT}; stable. */
        TEXT_DESCENDING,
        /** By the note as a double; stable. */
        NOTE,
        /** By the note as a double, from the greatest to the least; stable. */
        NOTE_DESCENDING
    }

    private static final int LENGTH_OFFSET = 8;
    private static final int HASH_OFFSET = 12;
    private static final int SCORE_OFFSET = 16;
    private static final int NOTE_OFFSET = 24;
    private static final int ENTRY_BYTES = 32;

    private final WorkMemory entries = new WorkMemory();
    private final WorkMemory order = new WorkMemory();
    private final WorkMemory copies = new WorkMemory();
    private long base;
    private int count;
    /** Address of the entry numbers in sorted order; 0 if the list is in insertion order. */
    private long sorted;

    /** Number of entries. */
    public int count() {
        return count;
    }

    /** Reserves memory for this many more entries in one step, so that a shortage shows before any work. */
    public void expect(Cache cache, long more) {
        entries.require(cache, (count + more) * ENTRY_BYTES);
        base = entries.address();
    }

    /** Adds an entry with a note of 0; returns its number. */
    public int add(Cache cache, long address, int length, int hash, double score) {
        entries.require(cache, (count + 1L) * ENTRY_BYTES);
        base = entries.address();
        long at = at(count);
        Memory.putLong(at, address);
        Memory.putInt(at + LENGTH_OFFSET, length);
        Memory.putInt(at + HASH_OFFSET, hash);
        Memory.putLong(at + SCORE_OFFSET, Double.doubleToRawLongBits(score));
        Memory.putLong(at + NOTE_OFFSET, 0);
        return count++;
    }

    private long at(int index) {
        return base + (long) index * ENTRY_BYTES;
    }

    /** Address of a member's bytes. */
    public long address(int index) {
        return Memory.getLong(at(index));
    }

    /** Length of a member, bytes. */
    public int length(int index) {
        return Memory.getInt(at(index) + LENGTH_OFFSET);
    }

    int hash(int index) {
        return Memory.getInt(at(index) + HASH_OFFSET);
    }

    /** Stores a hash with a member, for an index. */
    public void hash(int index, int hash) {
        Memory.putInt(at(index) + HASH_OFFSET, hash);
    }

    public double score(int index) {
        return Double.longBitsToDouble(Memory.getLong(at(index) + SCORE_OFFSET));
    }

    public void score(int index, double score) {
        Memory.putLong(at(index) + SCORE_OFFSET, Double.doubleToRawLongBits(score));
    }

    /** A number that the command stores with an entry. */
    public long note(int index) {
        return Memory.getLong(at(index) + NOTE_OFFSET);
    }

    /** See {@link #note(int)}. */
    public void note(int index, long note) {
        Memory.putLong(at(index) + NOTE_OFFSET, note);
    }

    /** The note as a double. */
    public double doubleNote(int index) {
        return Double.longBitsToDouble(note(index));
    }

    /** See {@link #doubleNote(int)}. */
    public void doubleNote(int index, double note) {
        note(index, Double.doubleToRawLongBits(note));
    }

    /** Removes all entries with other notes. */
    public void keepNoted(long note) {
        int kept = 0;
        for (int i = 0; i < count; i++) {
            if (note(i) == note) {
                if (kept < i) {
                    Memory.copy(at(i), at(kept), ENTRY_BYTES);
                }
                kept++;
            }
        }
        count = kept;
    }

    /** Moves the entries themselves into the sorted order, and drops those that the order does not contain. */
    public void keepInOrder(Cache cache) {
        if (sorted == 0) {
            return;
        }
        long bytes = (long) count * ENTRY_BYTES;
        copies.require(cache, bytes);
        for (int place = 0; place < count; place++) {
            Memory.copy(at(inOrder(place)), copies.address() + (long) place * ENTRY_BYTES, ENTRY_BYTES);
        }
        Memory.copy(copies.address(), base, bytes);
        copies.release();
        sorted = 0;
    }

    /** Keeps the first entries, at most this many, in sorted order if the list was sorted. */
    public void keepFirst(long max) {
        count = (int) Math.min(count, max);
    }

    /** The number of the entry at this place of the order. */
    public int inOrder(int place) {
        return sorted == 0 ? place : Memory.getInt(sorted + (long) place * Integer.BYTES);
    }

    /** Length of the longest member, bytes. */
    public int longest() {
        int longest = 0;
        for (int place = 0; place < count; place++) {
            longest = Math.max(longest, length(inOrder(place)));
        }
        return longest;
    }

    /** Bytes charged to maxmemory. */
    public long heldBytes() {
        return entries.heldBytes() + order.heldBytes() + copies.heldBytes();
    }

    void clear() {
        count = 0;
        sorted = 0;
    }

    /** Clears the list and releases the memory. */
    public void release() {
        clear();
        entries.release();
        order.release();
        copies.release();
    }

    // --- sort

    /** Sorts the entries: {@link #inOrder} then returns the sorted order. A merge sort, for stability. */
    public void sort(Cache cache, Order by) {
        int entriesNow = count;
        order.require(cache, 2L * Integer.BYTES * entriesNow);
        long from = order.address();
        long to = from + (long) Integer.BYTES * entriesNow;
        for (int i = 0; i < entriesNow; i++) {
            Memory.putInt(from + (long) i * Integer.BYTES, i);
        }
        for (long width = 1; width < entriesNow; width *= 2) {
            for (long start = 0; start < entriesNow; start += 2 * width) {
                merge(from, to, start, Math.min(entriesNow, start + width), Math.min(entriesNow, start + 2 * width),
                        by);
            }
            long done = to;
            to = from;
            from = done;
        }
        sorted = from;
    }

    private void merge(long from, long to, long start, long middle, long end, Order by) {
        if (middle == end || !isBehind(number(from, middle - 1), number(from, middle), by)) {
            Memory.copy(from + start * Integer.BYTES, to + start * Integer.BYTES, (end - start) * Integer.BYTES);
            return;
        }
        long left = start;
        long right = middle;
        for (long at = start; at < end; at++) {
            boolean takeRight = left == middle
                    || right < end && isBehind(number(from, left), number(from, right), by);
            long taken = takeRight ? right++ : left++;
            Memory.putInt(to + at * Integer.BYTES, number(from, taken));
        }
    }

    private static int number(long numbers, long place) {
        return Memory.getInt(numbers + place * Integer.BYTES);
    }

    private boolean isBehind(int first, int second, Order by) {
        return switch (by) {
            case SCORE -> compareScores(first, second) > 0;
            case SCORE_DESCENDING -> compareScores(first, second) < 0;
            case TEXT -> compareTexts(first, second) > 0;
            case TEXT_DESCENDING -> compareTexts(first, second) < 0;
            case NOTE -> doubleNote(first) > doubleNote(second);
            case NOTE_DESCENDING -> doubleNote(first) < doubleNote(second);
        };
    }

    private int compareScores(int first, int second) {
        double one = score(first);
        double other = score(second);
        if (one == other) {
            return Memory.compare(address(first), length(first), address(second), length(second));
        }
        return one > other ? 1 : -1;
    }

    private int compareTexts(int first, int second) {
        if (hash(first) < 0 || hash(second) < 0) {
            return Integer.compare(Math.min(hash(first), 0), Math.min(hash(second), 0));
        }
        int order = Memory.compare(note(first), hash(first), note(second), hash(second));
        // The order of equal texts must not depend on the order of the members, which differs after a restart.
        return order == 0 ? Memory.compare(address(first), length(first), address(second), length(second)) : order;
    }
}
