package io.varve.memory.index;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of one overflow entry; a chain's head is a link. Immutable: static methods only.
 *
 * <pre>
 *  byte  0      8          14     16          20          24          28       32
 *        +------+----------+------+-----------+-----------+-----------+--------+
 *  node  | hash | location | none | hash next | home next | home prev | second |
 *        | 64 b | 48 b     | 16 b | 32 b      | 32 b      | 32 b      | 32 b   |
 *        +------+----------+------+-----------+-----------+-----------+--------+
 * </pre>
 *
 * <p>The field second is the second hash of the key, which chooses the hash chain. Links are node numbers from 1; 0
 * ends a chain. The first node of a home bucket has no previous node. Its previous field holds the number of the next
 * leader, with all bits inverted.
 */
final class OverflowNodeLayout {
    static final int HASH_BYTES = 8;
    static final int LOCATION_BYTES = IndexBucketLayout.LOCATION_BYTES;
    static final int UNUSED_BYTES = 2;
    static final int LINK_BYTES = 4;
    static final int SECOND_BYTES = 4;

    static final int HASH_OFFSET = 0;
    static final int LOCATION_OFFSET = HASH_OFFSET + HASH_BYTES;
    static final int UNUSED_OFFSET = LOCATION_OFFSET + LOCATION_BYTES;
    static final int HASH_NEXT_OFFSET = UNUSED_OFFSET + UNUSED_BYTES;
    static final int HOME_NEXT_OFFSET = HASH_NEXT_OFFSET + LINK_BYTES;
    static final int HOME_PREVIOUS_OFFSET = HOME_NEXT_OFFSET + LINK_BYTES;
    static final int SECOND_OFFSET = HOME_PREVIOUS_OFFSET + LINK_BYTES;
    static final int NODE_BYTES = SECOND_OFFSET + SECOND_BYTES;

    private OverflowNodeLayout() {}

    static long hash(long node) {
        return Memory.getLong(node + HASH_OFFSET);
    }

    static void hash(long node, long hash) {
        Memory.putLong(node + HASH_OFFSET, hash);
    }

    static int second(long node) {
        return Memory.getInt(node + SECOND_OFFSET);
    }

    static void second(long node, int second) {
        Memory.putInt(node + SECOND_OFFSET, second);
    }

    static long location(long node) {
        return Memory.getUnsigned48(node + LOCATION_OFFSET);
    }

    static void location(long node, long location) {
        Memory.putUnsigned48(node + LOCATION_OFFSET, location);
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

    /** Whether the node is the first of its home bucket: its previous field then names the next leader, or none. */
    static boolean leads(long node) {
        return homePrevious(node) < 0;
    }

    static int nextLeader(long node) {
        return ~homePrevious(node);
    }

    /** Makes the node a leader, followed by another leader or none. */
    static void nextLeader(long node, int number) {
        homePrevious(node, ~number);
    }

    /** The node that a head links to. */
    static int link(long head) {
        return Memory.getInt(head);
    }

    static void link(long head, int number) {
        Memory.putInt(head, number);
    }
}
