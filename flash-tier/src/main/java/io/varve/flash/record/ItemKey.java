package io.varve.flash.record;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The key of an item on flash: its place, 8 bytes, the epoch of its database, 8 bytes, and the key itself. Immutable:
 * static methods only.
 *
 * <p>The place is a permutation of the hash's bits, chosen so that the store's order is SCAN's order over memory: first
 * by shard, then, within a shard, by the bit-reversed bucket number.
 *
 * <pre>
 *   hash    | a: 8 | b: 40 | tag: 16 |       a: the highest bits, which choose the shard
 *   place   | a: 8 | b backwards: 40 | tag: 16 |
 * </pre>
 */
public final class ItemKey {
    private static final int TAG_BITS = 16;
    private static final int GROUP_BITS = 8;
    /** Number of key groups that the first byte of the place distinguishes. */
    public static final int GROUPS = 1 << GROUP_BITS;
    private static final int GROUP_SHIFT = Long.SIZE - GROUP_BITS;
    private static final long TAG_MASK = (1L << TAG_BITS) - 1;
    private static final int HEAD_BYTES = Long.BYTES + Long.BYTES;
    private static final long EPOCH_STEP = 0x9E37_79B9_7F4A_7C15L;
    private static final long MIX = 0xBF58_476D_1CE4_E5B9L;
    private static final int MIX_SHIFT = 31;

    private ItemKey() {}

    /** The place of a key with this hash; it is as well mixed as the hash. */
    public static long place(long hash) {
        long backwards = Long.reverse(hash >>> TAG_BITS) >>> TAG_BITS + GROUP_BITS;
        return hash & -1L << GROUP_SHIFT | backwards << TAG_BITS | hash & TAG_MASK;
    }

    /** A well-mixed identity of a key in an epoch, distinct from that of the key in another epoch. */
    public static long identity(long place, long epoch) {
        long mixed = (place ^ epoch * EPOCH_STEP) * MIX;
        return mixed ^ mixed >>> MIX_SHIFT;
    }

    /** Builds the key on flash. */
    public static byte[] of(long place, long epoch, byte[] key) {
        return ByteBuffer.allocate(HEAD_BYTES + key.length).putLong(place).putLong(epoch).put(key).array();
    }

    /** The prefix of the first key that is in this group and not before this position. */
    public static byte[] firstOf(int group, long position) {
        long place = (long) group << GROUP_SHIFT | position >>> TAG_BITS + GROUP_BITS << TAG_BITS;
        return ByteBuffer.allocate(Long.BYTES).putLong(place).array();
    }

    /** The group of a place: 0 to below {@link #GROUPS}. */
    public static int group(long place) {
        return (int) (place >>> GROUP_SHIFT);
    }

    /**
     * The position of a place within its group: its bit-reversed bucket number, in the highest 40 bits. So positions,
     * as unsigned numbers, have the order of a scan over memory.
     */
    public static long position(long place) {
        return place >>> TAG_BITS << TAG_BITS + GROUP_BITS;
    }

    /** Whether these bytes can be such a key. */
    public static boolean isKey(byte[] recordKey) {
        return recordKey.length >= HEAD_BYTES;
    }

    public static long placeOf(byte[] recordKey) {
        return ByteBuffer.wrap(recordKey).getLong();
    }

    public static long epochOf(byte[] recordKey) {
        return ByteBuffer.wrap(recordKey).getLong(Long.BYTES);
    }

    /** The key itself. */
    public static byte[] keyOf(byte[] recordKey) {
        return Arrays.copyOfRange(recordKey, HEAD_BYTES, recordKey.length);
    }

    /** Length of the key itself, bytes. */
    public static int lengthOf(byte[] recordKey) {
        return recordKey.length - HEAD_BYTES;
    }
}
