package io.varve.memory.collection;

import io.varve.memory.collection.tree.TreeHeader;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;

/**
 * The byte layout of the additions to a hash whose fields may have times. Immutable: static methods only; writers hold
 * the lock of the item's shard. A word holds the expiry time of the key itself, because the item's own expiry field
 * holds the earliest time at which the key or a field is due.
 *
 * <pre>
 *  packed:                                  root item of a tree:
 *  +------+---------------------------+     +--------------------------+------+
 *  | word | as PackedHashLayout has it|     | TreeHeader with the      | word |
 *  | 8    |                           |     | record of the times, 60  | 8    |
 *  +------+---------------------------+     +--------------------------+------+
 *
 *  the word, bit 0 on the right
 *
 *  63       49   48    47                       0
 *  +----------+-------+--------------------------+
 *  |          | going | the key's expiry time,   |
 *  |          |       | all ones: never          |
 *  +----------+-------+--------------------------+
 *  packed: 63 to 60 is the encoding that the hash would have without times
 * </pre>
 */
public final class TimedHashLayout {
    /** The latest time of a field, milliseconds since the epoch, in the year 4199: Redis's own limit. */
    public static final long LATEST_TIME = (1L << 46) - 1;
    /** Bytes before the packed part. */
    public static final int WORD_BYTES = Long.BYTES;
    /** Bytes of the value of a root item with the second tree and the word. */
    public static final int TREE_HEADER_BYTES = TreeHeader.bytes(2) + WORD_BYTES;

    private static final int TIME_BITS = 48;
    private static final long TIME_MASK = (1L << TIME_BITS) - 1;
    private static final long BEING_REMOVED = 1L << TIME_BITS;
    private static final int ENCODING_SHIFT = 60;
    private static final long ENCODING_MASK = 0xF;

    private TimedHashLayout() {}

    /** Whether a header of this size belongs to a hash whose fields may have times. */
    public static boolean isTimedHeader(int headerBytes) {
        return headerBytes == TREE_HEADER_BYTES;
    }

    /** The address of the word in a value. */
    public static long word(long value, boolean isTree) {
        return isTree ? value + TREE_HEADER_BYTES - WORD_BYTES : value;
    }

    /** Writes the word of a hash whose key has this expiry time, or {@link Item#NEVER}. */
    public static void write(long word, long expireAtMillis, int encoding) {
        Memory.putLong(word, expireAtMillis & TIME_MASK | (long) encoding << ENCODING_SHIFT);
    }

    /** The expiry time of the key, or {@link Item#NEVER}. */
    public static long expireAtMillis(long word) {
        return expireAtOf(Memory.getLong(word));
    }

    /** The expiry time in the word at the start of a value in an array. */
    public static long expireAtMillis(byte[] value, int from) {
        long word = 0;
        for (int i = WORD_BYTES - 1; i >= 0; i--) {
            word = word << Byte.SIZE | value[from + i] & 0xFF;
        }
        return expireAtOf(word);
    }

    private static long expireAtOf(long word) {
        long time = word & TIME_MASK;
        return time == TIME_MASK ? Item.NEVER : time;
    }

    public static void expireAtMillis(long word, long expireAtMillis) {
        Memory.putLong(word, Memory.getLong(word) & ~TIME_MASK | expireAtMillis & TIME_MASK);
    }

    /** Whether some due fields have been removed, and others are left. */
    public static boolean isBeingRemoved(long word) {
        return (Memory.getLong(word) & BEING_REMOVED) != 0;
    }

    public static void beingRemoved(long word, boolean isBeingRemoved) {
        Memory.putLong(word, Memory.getLong(word) & ~BEING_REMOVED | (isBeingRemoved ? BEING_REMOVED : 0));
    }

    /** The encoding that a packed hash would have without times. */
    public static int encoding(long word) {
        return (int) (Memory.getLong(word) >>> ENCODING_SHIFT & ENCODING_MASK);
    }

    public static void encoding(long word, int encoding) {
        Memory.putLong(word, Memory.getLong(word) & ~(ENCODING_MASK << ENCODING_SHIFT)
                | (long) encoding << ENCODING_SHIFT);
    }
}
