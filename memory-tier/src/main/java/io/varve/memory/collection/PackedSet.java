package io.varve.memory.collection;

import io.varve.memory.offheap.Memory;

/**
 * A set whose members lie one behind the other in the value of one item, as {@link PackedSetLayout} draws it. Immutable:
 * static methods only; the caller holds the lock of the item's shard.
 *
 * <p>A set is named by the address and the length in bytes of its value, a member by its own address. Members keep the
 * order in which they came. What makes a set longer is done in two steps: the caller computes the size
 * ({@link #memberBytes}), makes the room, which may move the set, and then writes. What makes it shorter writes first and
 * tells the new length.
 *
 * @see PackedIntegers for sets of integers
 */
public final class PackedSet {
    /** What {@link #find} and {@link #next} answer when there is none. */
    public static final long NONE = 0;
    /** Bytes of a set without members. */
    public static final int EMPTY_BYTES = PackedSetLayout.MEMBERS_OFFSET;

    private PackedSet() {}

    /** Makes an empty set of {@link #EMPTY_BYTES}. */
    public static void clear(long set) {
        PackedSetLayout.count(set, 0);
    }

    /** How many members it has. */
    public static int count(long set) {
        return PackedSetLayout.count(set);
    }

    /** Bytes that a member of this length takes. */
    public static long memberBytes(int length) {
        return PackedSetLayout.memberBytes(length);
    }

    // --- look

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

    /** The member behind this one, or {@link #NONE}. */
    public static long next(long set, int length, long member) {
        long next = end(member);
        return next < set + length ? next : NONE;
    }

    /** Length of a member's bytes. */
    public static int length(long member) {
        return PackedSetLayout.length(member);
    }

    /** Where a member's bytes are. */
    public static long address(long member) {
        return PackedSetLayout.bytes(member, PackedSetLayout.length(member));
    }

    private static long end(long member) {
        int length = PackedSetLayout.length(member);
        return PackedSetLayout.bytes(member, length) + length;
    }

    // --- write

    /**
     * Adds a member at the end that is not there yet. The set's memory has room for {@link #memberBytes} more than its
     * length.
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
     * Takes a member out; what lies behind moves down.
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
     * Moves a member down to where it is the last one of those that are to stay: for taking out many at once, the members
     * visited from first to last. {@link #cut} ends it.
     *
     * @param to where the last one that stays ends, at most the member's own place
     * @return where this one ends now
     */
    public static long moveDown(long member, long to) {
        long bytes = end(member) - member;
        if (to != member) {
            Memory.copy(member, to, bytes);
        }
        return to + bytes;
    }

    /**
     * Lets a set end behind the last member that stays.
     *
     * @param count how many do
     * @return the new length of the set
     */
    public static int cut(long set, long end, int count) {
        PackedSetLayout.count(set, count);
        return (int) (end - set);
    }
}
