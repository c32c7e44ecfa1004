package io.varve.memory.index;

import io.varve.memory.offheap.Memory;

/**
 * The bytes of one entry of the overflow and of one of its chain heads. Immutable: static methods only.
 *
 * <pre>
 *  byte  0      8          14     16          20          24          28       32
 *        +------+----------+------+-----------+-----------+-----------+--------+
 *  node  | hash | location | live | hash next | home next | home prev | unused |
 *        | 64 b | 48 b     | 16 b | 32 b      | 32 b      | 32 b      | 32 b   |
 *        +------+----------+------+-----------+-----------+-----------+--------+
 *
 *  byte  0           4           8
 *        +-----------+-----------+
 *  head  | hash head | home head |
 *        | 32 b      | 32 b      |
 *        +-----------+-----------+
 * </pre>
 *
 * <p>Links are node numbers from 1; 0 ends a chain. A node that is not live waits in a chain of free ones, by hash next.
 */
final class OverflowNodeLayout {
    static final int HASH_BYTES = 8;
    static final int LOCATION_BYTES = IndexBucketLayout.LOCATION_BYTES;
    static final int LIVE_BYTES = 2;
    static final int LINK_BYTES = 4;
    static final int UNUSED_BYTES = 4;

    static final int HASH_OFFSET = 0;
    static final int LOCATION_OFFSET = HASH_OFFSET + HASH_BYTES;
    static final int LIVE_OFFSET = LOCATION_OFFSET + LOCATION_BYTES;
    static final int HASH_NEXT_OFFSET = LIVE_OFFSET + LIVE_BYTES;
    static final int HOME_NEXT_OFFSET = HASH_NEXT_OFFSET + LINK_BYTES;
    static final int HOME_PREVIOUS_OFFSET = HOME_NEXT_OFFSET + LINK_BYTES;
    static final int UNUSED_OFFSET = HOME_PREVIOUS_OFFSET + LINK_BYTES;
    static final int NODE_BYTES = UNUSED_OFFSET + UNUSED_BYTES;

    static final int HASH_HEAD_OFFSET = 0;
    static final int HOME_HEAD_OFFSET = HASH_HEAD_OFFSET + LINK_BYTES;
    static final int HEAD_BYTES = HOME_HEAD_OFFSET + LINK_BYTES;

    private OverflowNodeLayout() {}

    /** Where node {@code number}, counted from 1, starts. */
    static long address(long nodes, int number) {
        return nodes + (number - 1L) * NODE_BYTES;
    }

    static long hash(long node) {
        return Memory.getLong(node + HASH_OFFSET);
    }

    static void hash(long node, long hash) {
        Memory.putLong(node + HASH_OFFSET, hash);
    }

    static long location(long node) {
        return Memory.getUnsigned48(node + LOCATION_OFFSET);
    }

    static void location(long node, long location) {
        Memory.putUnsigned48(node + LOCATION_OFFSET, location);
    }

    static boolean live(long node) {
        return Memory.getShort(node + LIVE_OFFSET) != 0;
    }

    static void live(long node, boolean live) {
        Memory.putShort(node + LIVE_OFFSET, (short) (live ? 1 : 0));
    }

    static int hashNext(long node) {
        return Memory.getInt(node + HASH_NEXT_OFFSET);
    }

    static void hashNext(long node, int number) {
        Memory.putInt(node + HASH_NEXT_OFFSET, number);
    }

    static int homeNext(long node) {
        return Memory.getInt(node + HOME_NEXT_OFFSET);
    }

    static void homeNext(long node, int number) {
        Memory.putInt(node + HOME_NEXT_OFFSET, number);
    }

    static int homePrevious(long node) {
        return Memory.getInt(node + HOME_PREVIOUS_OFFSET);
    }

    static void homePrevious(long node, int number) {
        Memory.putInt(node + HOME_PREVIOUS_OFFSET, number);
    }

    static int hashHead(long head) {
        return Memory.getInt(head + HASH_HEAD_OFFSET);
    }

    static void hashHead(long head, int number) {
        Memory.putInt(head + HASH_HEAD_OFFSET, number);
    }

    static int homeHead(long head) {
        return Memory.getInt(head + HOME_HEAD_OFFSET);
    }

    static void homeHead(long head, int number) {
        Memory.putInt(head + HOME_HEAD_OFFSET, number);
    }
}
