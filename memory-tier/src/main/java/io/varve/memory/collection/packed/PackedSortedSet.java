package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * A small sorted set with consecutive members, in order, in the value of one item, as {@link PackedSortedSetLayout}
 * draws it. Immutable: static methods only; the caller holds the lock of the item's shard.
 *
 * <p>A set is named by the address and the length in bytes of its value, an entry by its own address. Entries are
 * ordered by score; equal scores (0 and -0 are equal) are ordered by the members' unsigned bytes. A score is never NaN.
 * A growing write has two steps: the caller computes the size ({@link #entryBytes}) and resizes the item, which may
 * move the set; then it writes. A shrinking write writes first and returns the new length.
 *
 * <p>A search is linear; one for a member compares lengths before bytes.
 */
public final class PackedSortedSet {
    /** The result of a search without a match. */
    public static final long NONE = 0;
    /** Bytes of a set without members. */
    public static final int EMPTY_BYTES = PackedSortedSetLayout.ENTRIES_OFFSET;

    private PackedSortedSet() {}

    /** Writes an empty set of {@link #EMPTY_BYTES}. */
    public static void clear(long set) {
        PackedSortedSetLayout.count(set, 0);
    }

    /** The number of members. */
    public static int count(long set) {
        return PackedSortedSetLayout.count(set);
    }

    /** Bytes of an entry whose member has this length. */
    public static long entryBytes(int memberLength) {
        return PackedSortedSetLayout.entryBytes(memberLength);
    }

    public static double score(long entry) {
        return PackedSortedSetLayout.score(entry);
    }

    public static long memberAddress(long entry) {
        return PackedSortedSetLayout.memberAddress(entry);
    }

    public static int memberLength(long entry) {
        return PackedSortedSetLayout.memberLength(entry);
    }

    // --- walk

    /** The first entry, or {@link #NONE}. */
    public static long first(long set, int length) {
        return length > EMPTY_BYTES ? set + EMPTY_BYTES : NONE;
    }

    /** The last entry, or {@link #NONE}. */
    public static long last(long set, int length) {
        return length > EMPTY_BYTES ? PackedSortedSetLayout.entryBefore(set + length) : NONE;
    }

    /** The entry after this one, or {@link #NONE}. */
    public static long next(long set, int length, long entry) {
        long next = PackedSortedSetLayout.end(entry);
        return next < set + length ? next : NONE;
    }

    /** The entry before this one, or {@link #NONE}. */
    public static long previous(long set, long entry) {
        return entry > set + EMPTY_BYTES ? PackedSortedSetLayout.entryBefore(entry) : NONE;
    }

    // --- lookups

    /** The entry of a member, or {@link #NONE}. */
    public static long find(long set, int length, long member, int memberLength) {
        long end = set + length;
        long entry = set + EMPTY_BYTES;
        while (entry < end) {
            int entryLength = PackedSortedSetLayout.memberLength(entry);
            if (entryLength == memberLength
                    && Memory.equal(PackedSortedSetLayout.memberAddress(entry), member, memberLength)) {
                return entry;
            }
            entry += PackedSortedSetLayout.entryBytes(entryLength);
        }
        return NONE;
    }

    /** The entry of a rank below {@link #count}; searched from the nearer end. */
    public static long at(long set, int length, int rank) {
        int count = count(set);
        assert rank >= 0 && rank < count : rank + " of " + count;
        if (rank <= count / 2) {
            long entry = set + EMPTY_BYTES;
            for (int i = 0; i < rank; i++) {
                entry = PackedSortedSetLayout.end(entry);
            }
            return entry;
        }
        long entry = set + length;
        for (int i = count; i > rank; i--) {
            entry = PackedSortedSetLayout.entryBefore(entry);
        }
        return entry;
    }

    /** The number of entries before this one. */
    public static int rank(long set, long entry) {
        int rank = 0;
        for (long at = set + EMPTY_BYTES; at < entry; at = PackedSortedSetLayout.end(at)) {
            rank++;
        }
        return rank;
    }

    /**
     * The number of entries with a lower score.
     *
     * @param orEqual whether those with an equal score count too
     */
    public static int rankOfScore(long set, int length, double score, boolean orEqual) {
        long end = set + length;
        int rank = 0;
        for (long entry = set + EMPTY_BYTES; entry < end; entry = PackedSortedSetLayout.end(entry)) {
            double other = PackedSortedSetLayout.score(entry);
            if (orEqual ? other > score : other >= score) {
                break;
            }
            rank++;
        }
        return rank;
    }

    /**
     * The number of entries whose member is lower than this one, in a set whose scores are all equal.
     *
     * @param orEqual whether the member itself counts too
     */
    public static int rankOfMember(long set, int length, long member, int memberLength, boolean orEqual) {
        long end = set + length;
        int rank = 0;
        for (long entry = set + EMPTY_BYTES; entry < end; entry = PackedSortedSetLayout.end(entry)) {
            int order = Memory.compare(PackedSortedSetLayout.memberAddress(entry),
                    PackedSortedSetLayout.memberLength(entry), member, memberLength);
            if (orEqual ? order > 0 : order >= 0) {
                break;
            }
            rank++;
        }
        return rank;
    }

    // --- writes

    /**
     * Inserts a missing member in order. The capacity must exceed the length by {@link #entryBytes}; the member must
     * not lie in the set.
     *
     * @return the new length of the set
     */
    public static int insert(long set, int length, double score, long member, int memberLength) {
        long end = set + length;
        long place = placeOf(set, length, score, member, memberLength);
        long bytes = PackedSortedSetLayout.entryBytes(memberLength);
        Memory.copy(place, place + bytes, end - place);
        PackedSortedSetLayout.write(place, score, member, memberLength);
        PackedSortedSetLayout.count(set, PackedSortedSetLayout.count(set) + 1);
        return (int) (length + bytes);
    }

    /**
     * Appends a member that belongs behind all others.
     *
     * @return the new length of the set
     */
    public static int append(long set, int length, double score, long member, int memberLength) {
        assert isAbove(last(set, length), score, member, memberLength);
        PackedSortedSetLayout.write(set + length, score, member, memberLength);
        PackedSortedSetLayout.count(set, PackedSortedSetLayout.count(set) + 1);
        return (int) (length + PackedSortedSetLayout.entryBytes(memberLength));
    }

    /**
     * Changes the score of an entry's member, and moves the entry accordingly.
     *
     * @param member the member's bytes, which must not lie in the set
     */
    public static void score(long set, int length, long entry, double score, long member, int memberLength) {
        long next = next(set, length, entry);
        if (isAbove(previous(set, entry), score, member, memberLength)
                && (next == NONE || !isAbove(next, score, member, memberLength))) {
            PackedSortedSetLayout.score(entry, score);
        } else {
            int shorter = remove(set, length, entry);
            insert(set, shorter, score, member, memberLength);
        }
    }

    /**
     * Removes an entry; the bytes behind move down.
     *
     * @return the new length of the set
     */
    public static int remove(long set, int length, long entry) {
        return cut(set, length, entry, PackedSortedSetLayout.end(entry), 1);
    }

    /**
     * Removes the entries from one rank up to another, which stays.
     *
     * @return the new length of the set
     */
    public static int removeRange(long set, int length, int from, int to) {
        if (from >= to) {
            return length;
        }
        long start = at(set, length, from);
        long end = to == count(set) ? set + length : at(set, length, to);
        return cut(set, length, start, end, to - from);
    }

    private static int cut(long set, int length, long from, long to, int entries) {
        Memory.copy(to, from, set + length - to);
        PackedSortedSetLayout.count(set, PackedSortedSetLayout.count(set) - entries);
        return (int) (length - (to - from));
    }

    /** The position of an entry; usually, if sets grow in order, behind the last. */
    private static long placeOf(long set, int length, double score, long member, int memberLength) {
        if (isAbove(last(set, length), score, member, memberLength)) {
            return set + length;
        }
        long entry = set + EMPTY_BYTES;
        while (isAbove(entry, score, member, memberLength)) {
            entry = PackedSortedSetLayout.end(entry);
        }
        return entry;
    }

    /** Whether a score and member come after an entry; true if there is no entry. */
    private static boolean isAbove(long entry, double score, long member, int memberLength) {
        if (entry == NONE) {
            return true;
        }
        double other = PackedSortedSetLayout.score(entry);
        return score > other || score == other && Memory.compare(member, memberLength,
                PackedSortedSetLayout.memberAddress(entry), PackedSortedSetLayout.memberLength(entry)) > 0;
    }
}
