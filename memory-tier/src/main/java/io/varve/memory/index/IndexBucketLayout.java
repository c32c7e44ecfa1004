package io.varve.memory.index;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of an index bucket: one cache line, 64-byte aligned. Immutable: static methods only.
 *
 * <pre>
 *  byte  0     1      2                     16           22                    64
 *        +-----+------+---------------------+------------+---------------------+
 *        | num | flag | tag 0 .. tag 6      | next       | location 0 .. 6     |
 *        | 8 b | 8 b  | 7 x 16 b            | 48 b       | 7 x 48 b            |
 *        +-----+------+---------------------+------------+---------------------+
 *        |<-- head: 16 bytes, one vector -->|
 * </pre>
 *
 * <ul>
 * <li>num: bit i says that slot i is valid. Its top bit, always zero in the paper, marks a home bucket with entries
 *     in the overflow of its table.
 * <li>flag: bit i says that slot i is native, that is, this is the home bucket of its entry.
 * <li>next: the extension bucket's number plus one, or 0 if there is none, so that zeroed memory is an empty
 *     bucket.
 * </ul>
 *
 * <p>Redis++, section 4, figure 3.
 */
final class IndexBucketLayout {
    static final int SLOTS = 7;
    static final int SLOTS_MASK = (1 << SLOTS) - 1;
    /** The bit of num that marks a home bucket with entries in the overflow. */
    static final int OVERFLOWED = 1 << SLOTS;

    static final int NUM_BYTES = 1;
    static final int FLAG_BYTES = 1;
    static final int TAG_BYTES = 2;
    static final int NEXT_BYTES = 6;
    static final int LOCATION_BYTES = 6;

    static final int NUM_OFFSET = 0;
    static final int FLAG_OFFSET = NUM_OFFSET + NUM_BYTES;
    static final int TAGS_OFFSET = FLAG_OFFSET + FLAG_BYTES;
    static final int NEXT_OFFSET = TAGS_OFFSET + SLOTS * TAG_BYTES;
    static final int LOCATIONS_OFFSET = NEXT_OFFSET + NEXT_BYTES;
    static final int BUCKET_BYTES = LOCATIONS_OFFSET + SLOTS * LOCATION_BYTES;
    static final int BUCKET_SHIFT = Integer.numberOfTrailingZeros(BUCKET_BYTES);

    /** The low bits of the hash that are the tag; the bits above choose the home bucket. */
    static final int TAG_BITS = TAG_BYTES * Byte.SIZE;
    static final long MAX_LOCATION = (1L << LOCATION_BYTES * Byte.SIZE) - 1;
    /** The shift from the eight bytes that end with a location to the location. */
    private static final int LOCATION_SHIFT = Long.SIZE - LOCATION_BYTES * Byte.SIZE;
    /** No extension bucket. */
    static final long NO_BUCKET = -1;

    private IndexBucketLayout() {}

    static short tag(long hash) {
        return (short) hash;
    }

    /** The number of the home bucket in a table of {@code mask + 1} buckets. */
    static long home(long hash, long mask) {
        return hash >>> TAG_BITS & mask;
    }

    static long address(long table, long bucket) {
        return table + (bucket << BUCKET_SHIFT);
    }

    /** Valid slots, without the overflow mark. */
    static int valid(long address) {
        return Memory.getByte(address + NUM_OFFSET) & SLOTS_MASK;
    }

    static int usedSlots(long address) {
        return Integer.bitCount(valid(address));
    }

    static boolean overflowed(long address) {
        return Memory.getByte(address + NUM_OFFSET) < 0;
    }

    static void overflowed(long address, boolean mark) {
        int num = valid(address);
        Memory.putByte(address + NUM_OFFSET, (byte) (mark ? num | OVERFLOWED : num));
    }

    /** Valid slots whose home bucket is this one. */
    static int natives(long address) {
        return Memory.getByte(address + FLAG_OFFSET) & SLOTS_MASK;
    }

    /** Valid slots whose home bucket is another. */
    static int foreigners(long address) {
        return valid(address) & ~natives(address);
    }

    static short tag(long address, int slot) {
        return Memory.getShort(address + TAGS_OFFSET + (long) slot * TAG_BYTES);
    }

    static long location(long address, int slot) {
        return Memory.getLong(lastBytes(address, slot)) >>> LOCATION_SHIFT;
    }

    /**
     * The eight bytes that end where the location ends: a read from its start would cross the bucket's end at the last
     * slot.
     */
    private static long lastBytes(long address, int slot) {
        return address + LOCATIONS_OFFSET + (slot + 1L) * LOCATION_BYTES - Long.BYTES;
    }

    static void location(long address, int slot, long location) {
        Memory.putUnsigned48(address + LOCATIONS_OFFSET + (long) slot * LOCATION_BYTES, location);
    }

    /** The extension bucket's number, or {@link #NO_BUCKET}. */
    static long next(long address) {
        return (Memory.getLong(address + NEXT_OFFSET) & MAX_LOCATION) - 1;
    }

    static void next(long address, long bucket) {
        Memory.putUnsigned48(address + NEXT_OFFSET, bucket + 1);
    }

    /** Whether all entries of this home bucket are in it: no extension bucket, no overflow mark. */
    static boolean isAlone(long address) {
        return next(address) == NO_BUCKET && !overflowed(address);
    }

    /** The lowest free slot, as in the paper, or {@link #SLOTS} if there is none. */
    static int freeSlot(long address) {
        return Integer.numberOfTrailingZeros(~valid(address));
    }

    /**
     * Fills a free slot. ORDER: the valid bit is written last, so that a reader without the lock sees a whole entry or
     * none.
     */
    static void put(long address, int slot, short tag, long location, boolean isNative) {
        Memory.putShort(address + TAGS_OFFSET + (long) slot * TAG_BYTES, tag);
        location(address, slot, location);
        int bit = 1 << slot;
        int flag = natives(address);
        Memory.putByte(address + FLAG_OFFSET, (byte) (isNative ? flag | bit : flag & ~bit));
        Memory.putByte(address + NUM_OFFSET, (byte) (Memory.getByte(address + NUM_OFFSET) | bit));
    }

    /** Empties a slot; tag and location keep their old bytes. */
    static void clear(long address, int slot) {
        int keep = ~(1 << slot);
        Memory.putByte(address + NUM_OFFSET, (byte) (Memory.getByte(address + NUM_OFFSET) & keep));
        Memory.putByte(address + FLAG_OFFSET, (byte) (Memory.getByte(address + FLAG_OFFSET) & keep));
    }

    /** The valid slots with this tag as a bit vector; read without the lock. */
    static int peekMatches(long address, short tag) {
        return ScalarTagScanner.matches(Memory.peekLong(address), Memory.peekLong(address + Long.BYTES), tag);
    }

    /** The location in a slot; read without the lock. */
    static long peekLocation(long address, int slot) {
        return Memory.peekLong(lastBytes(address, slot)) >>> LOCATION_SHIFT;
    }

    /** Whether the home bucket has entries in the overflow; read without the lock. */
    static boolean peekOverflowed(long address) {
        return (Memory.peekLong(address) & OVERFLOWED) != 0;
    }

    /** The location of the first valid slot with this tag, or {@link Index#NONE}; a hint, read without the lock. */
    static long peekLocation(long address, short tag) {
        int slots = peekMatches(address, tag);
        return slots == 0 ? Index.NONE : peekLocation(address, Integer.numberOfTrailingZeros(slots));
    }

    /** The extension bucket's number, or {@link #NO_BUCKET}; a hint, read without the lock. */
    static long peekNext(long address) {
        return (Memory.peekLong(address + NEXT_OFFSET) & MAX_LOCATION) - 1;
    }
}
