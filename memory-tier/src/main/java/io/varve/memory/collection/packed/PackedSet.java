package io.varve.memory.collection.packed;

import io.varve.memory.offheap.Memory;

/**
 * A small set with consecutive members in the value of one item, as {@link PackedSetLayout} draws it. Immutable: static
 * methods only; the caller holds the lock of the item's shard.
 *
 * <p>A set is named by the address and the length in bytes of its value, a member by its own address. Members keep the
 * order of their insertion. A growing write has two steps: the caller computes the size ({@link #memberBytes}) and
 * resizes the item, which may move the set; then it writes. A shrinking write writes first and returns the new length.
 *
 * @see PackedIntegers for sets of integers
 */
public final class PackedSet {
    /** The result of {@link #find} and {@link #next} if there is no member. */
    public static final long NONE = 0;
    /** Bytes of a set without members. */
    public static final int EMPTY_BYTES = PackedSetLayout.MEMBERS_OFFSET;

    private PackedSet() {}

    /** Writes an empty set of {@link #EMPTY_BYTES}. */
    public static void clear(long set) {
        PackedSetLayout.count(set, 0);
    }

    /** The number of members. */
    public static int count(long set) {
        return PackedSetLayout.count(set);
    }

    /** Bytes of a member of this length. */
    public static long memberBytes(int length) {
        return PackedSetLayout.memberBytes(length);
    }

    // --- lookups

    /** The member with these bytes, or {@link #NONE}. */
    public static long find(long set, int length, long bytes, int bytesLength) {
        long end = set + length;
        long member = set + PackedSetLayout.MEMBERS_OFFSET;
        while (member < end) {
            int memberLength = PackedSetLayout.length(member);
            long memberBytes = PackedSetLayout.bytes(member, memberLength);
            if (memberLength == bytesLength && Memory.equal(memberBytes, bytes, bytesLength)) {
                return member;
            }
            member = memberBytes + memberLength;
        }
        return NONE;
    }

    /** The first member, or {@link #NONE}. */
    public static long first(long set, int length) {
        return length > PackedSetLayout.MEMBERS_OFFSET ? set + PackedSetLayout.MEMBERS_OFFSET : NONE;
    }

    /** The member after this one, or {@link #NONE}. */
    public static long next(long set, int length, long member) {
        long next = end(member);
        return next < set + length ? next : NONE;
    }

    /** The length of a member's bytes. */
    public static int length(long member) {
        return PackedSetLayout.length(member);
    }

    /** The address of a member's bytes. */
    public static long address(long member) {
        return PackedSetLayout.bytes(member, PackedSetLayout.length(member));
    }

    private static long end(long member) {
        int length = PackedSetLayout.length(member);
        return PackedSetLayout.bytes(member, length) + length;
    }

    // --- writes

    /**
     * Appends a missing member. The capacity must exceed the length by {@link #memberBytes}.
     *
     * @return the new length of the set
     */
    public static int append(long set, int length, long bytes, int bytesLength) {
        long at = PackedSetLayout.putLength(set + length, bytesLength);
        Memory.copy(bytes, at, bytesLength);
        PackedSetLayout.count(set, PackedSetLayout.count(set) + 1);
        return (int) (at + bytesLength - set);
    }

    /**
     * Removes a member; the bytes behind move down.
     *
     * @return the new length of the set
     */
    public static int remove(long set, int length, long member) {
        long end = end(member);
        Memory.copy(end, member, set + length - end);
        PackedSetLayout.count(set, PackedSetLayout.count(set) - 1);
        return (int) (length - (end - member));
    }

    /**
     * Moves a member down to the end of those that are kept. For removing many at once: the caller visits the members
     * from first to last and ends with {@link #cut}.
     *
     * @param to the end of the last member kept before it, at most the member's own address
     * @return the new end of this member
     */
    public static long moveDown(long member, long to) {
        long bytes = end(member) - member;
        if (to != member) {
            Memory.copy(member, to, bytes);
        }
        return to + bytes;
    }

    /**
     * Truncates a set behind the last member that is kept.
     *
     * @param count the number of kept members
     * @return the new length of the set
     */
    public static int cut(long set, long end, int count) {
        PackedSetLayout.count(set, count);
        return (int) (end - set);
    }
}
