package io.varve.server.command.value;

import io.varve.memory.Cache;
import io.varve.memory.offheap.Memory;

/**
 * Members of sorted sets with their scores, by where their bytes lie, off the heap. Confined to its event loop; reused from
 * command to command, and valid while the shards of the sets are locked and nothing is written to them.
 *
 * <pre>
 *  0                8        12       16       24       32
 *  +----------------+--------+--------+--------+--------+
 *  | member address | length | hash   | score  | note   |
 *  +----------------+--------+--------+--------+--------+
 * </pre>
 */
public final class MemberList {
    /** In which order {@link #sort} brings them. */
    public enum Order {
        /** By score, and by the members' unsigned bytes where it is the same: as a sorted set has them. */
        SCORE,
        /** The same from the last to the first. */
        SCORE_DESCENDING,
        /**
         * By the text whose address is the note and whose length is the hash, unsigned; those without one, of length -1, come first.
         * Those with the same stay as they came.
         */
        TEXT,
        /** The same from the last to the first. */
        TEXT_DESCENDING,
        /** By the note, which is a double; those with the same stay as they came. */
        NOTE,
        /** The same from the greatest to the least. */
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
    /** Where the numbers of the entries are in their order; 0 if they are in that in which they came. */
    private long sorted;

    /** How many there are. */
    public int count() {
        return count;
    }

    /** Makes room for so many at once: it is refused at once too, if at all. */
    public void expect(Cache cache, long more) {
        entries.require(cache, (count + more) * ENTRY_BYTES);
        base = entries.address();
    }

    /** Adds an entry, whose note is 0; answers its number. */
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

    /** Where the bytes of a member are. */
    public long address(int index) {
        return Memory.getLong(at(index));
    }

    /** Bytes of a member. */
    public int length(int index) {
        return Memory.getInt(at(index) + LENGTH_OFFSET);
    }

    int hash(int index) {
        return Memory.getInt(at(index) + HASH_OFFSET);
    }

    /** Notes a hash with a member, for who looks members up by it. */
    public void hash(int index, int hash) {
        Memory.putInt(at(index) + HASH_OFFSET, hash);
    }

    /** The score of a member. */
    public double score(int index) {
        return Double.longBitsToDouble(Memory.getLong(at(index) + SCORE_OFFSET));
    }

    /** Changes the score of a member. */
    public void score(int index, double score) {
        Memory.putLong(at(index) + SCORE_OFFSET, Double.doubleToRawLongBits(score));
    }

    /** What a command notes of an entry. */
    public long note(int index) {
        return Memory.getLong(at(index) + NOTE_OFFSET);
    }

    /** See {@link #note(int)}. */
    public void note(int index, long note) {
        Memory.putLong(at(index) + NOTE_OFFSET, note);
    }

    /** The note where it is a double. */
    public double doubleNote(int index) {
        return Double.longBitsToDouble(note(index));
    }

    /** See {@link #doubleNote(int)}. */
    public void doubleNote(int index, double note) {
        note(index, Double.doubleToRawLongBits(note));
    }

    /** Leaves those alone that have this note. */
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

    /** Brings the entries themselves into the order in which they were sorted; what was left out of it is dropped. */
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

    /** Leaves the first ones alone, at most so many, in their order if they were sorted. */
    public void keepFirst(long most) {
        count = (int) Math.min(count, most);
    }

    /** The number of the entry that stands at this place of the order. */
    public int inOrder(int place) {
        return sorted == 0 ? place : Memory.getInt(sorted + (long) place * Integer.BYTES);
    }

    /** Bytes of the longest member. */
    public int longest() {
        int longest = 0;
        for (int place = 0; place < count; place++) {
            longest = Math.max(longest, length(inOrder(place)));
        }
        return longest;
    }

    /** What is charged to maxmemory. */
    public long heldBytes() {
        return entries.heldBytes() + order.heldBytes() + copies.heldBytes();
    }

    void clear() {
        count = 0;
        sorted = 0;
    }

    /** Gives the memory back, and clears the list. */
    public void release() {
        clear();
        entries.release();
        order.release();
        copies.release();
    }

    // --- sort

    /** Sorts the entries: from now on {@link #inOrder} goes by that. A merge sort, so that it is stable. */
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
        return Memory.compare(note(first), hash(first), note(second), hash(second));
    }
}
