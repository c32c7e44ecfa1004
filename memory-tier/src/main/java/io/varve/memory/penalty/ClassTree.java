package io.varve.memory.penalty;

import io.varve.memory.offheap.Memory;

/**
 * One generation of the tree of Bloom filters that maps a key to its class (pRedis, section 3.1, Figure 6). Guarded by
 * its owner's lock.
 *
 * <p>The classes are the leaves of a binary tree of four levels. The filter above its root holds all keys. The filter
 * of an inner node holds the keys whose class lies in its right half. Finding a key's class takes up to five look-ups:
 * one whether the key is known, and four times whether to go right.
 * <pre>
 *                 known?
 *                   |
 *              1: right of 8?
 *            /                 \
 *       2: of 4?                3: of 12?
 *       /      \                /      \
 *   4: of 2?  5: of 6?    6: of 10?  7: of 14?
 *    /   \     /   \        /   \      /   \
 *    8    9   10   11      12   13    14   15      each: the odd class of two?
 * </pre>
 *
 * <p>The paper's sixteen filters are one array here. A key is added for a node with a hash that includes the node's
 * number. No node's filter fills up before another's, however keys are distributed over classes. All bits of a key,
 * seven for each node, lie in one line of 64 bytes, so a lookup costs one cache miss instead of thirty. It takes
 * about a tenth more bits for the same error rate.
 */
final class ClassTree {
    static final int LINE_SHIFT = 6;
    /** Bits that a key sets for a node: as many 9-bit numbers as a hash holds. */
    static final int FUNCTIONS = 7;

    private static final int LEVELS = 4;
    private static final int KNOWN = 0;
    private static final int ROOT = 1;
    private static final int FIRST_LEAF = 1 << LEVELS;
    private static final int PLACE_BITS = 9;
    private static final long PLACE_MASK = (1 << PLACE_BITS) - 1;
    private static final int WORD_SHIFT = 6;
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;

    private final long address;
    private final long lineMask;
    private long additions;
    private long keys;

    /** @param bytes a power of two, zeroed */
    ClassTree(long address, long bytes) {
        this.address = address;
        lineMask = (bytes >>> LINE_SHIFT) - 1;
    }

    long address() {
        return address;
    }

    /** The number of additions, one for each node of a key. */
    long additions() {
        return additions;
    }

    /** The number of added keys; a key counts again for each other class. */
    long keys() {
        return keys;
    }

    void add(long hash, int penaltyClass) {
        long line = line(hash);
        set(line, hash, KNOWN);
        int node = ROOT;
        for (int level = LEVELS - 1; level >= 0; level--) {
            int right = penaltyClass >>> level & 1;
            if (right != 0) {
                set(line, hash, node);
            }
            node = 2 * node + right;
        }
        keys++;
    }

    /**
     * The class of a key, or {@link RememberedClasses#NONE} if it was apparently not added. An error gives a higher
     * class, up to 15 whatever classes were added.
     */
    int classOf(long hash) {
        long line = line(hash);
        if (!has(line, hash, KNOWN)) {
            return RememberedClasses.NONE;
        }
        int node = ROOT;
        while (node < FIRST_LEAF) {
            node = 2 * node + (has(line, hash, node) ? 1 : 0);
        }
        return node - FIRST_LEAF;
    }

    private long line(long hash) {
        return address + ((mixed(hash) & lineMask) << LINE_SHIFT);
    }

    private void set(long line, long hash, int node) {
        long places = places(hash, node);
        for (int i = 0; i < FUNCTIONS; i++) {
            long word = word(line, places);
            Memory.putLong(word, Memory.getLong(word) | 1L << places);
            places >>>= PLACE_BITS;
        }
        additions++;
    }

    private static boolean has(long line, long hash, int node) {
        long places = places(hash, node);
        for (int i = 0; i < FUNCTIONS; i++) {
            if ((Memory.getLong(word(line, places)) >>> places & 1) == 0) {
                return false;
            }
            places >>>= PLACE_BITS;
        }
        return true;
    }

    /** The address of the word of the lowest place; shifts use only the lowest six bits of a place. */
    private static long word(long line, long places) {
        return line + ((places & PLACE_MASK) >>> WORD_SHIFT) * Long.BYTES;
    }

    private static long places(long hash, int node) {
        return mixed(hash + (node + 1) * STEP);
    }

    /** Mixes the hash, so that bits that have chosen the shard, or the line, are independent of the next choice. */
    private static long mixed(long hash) {
        long mixed = (hash ^ hash >>> 33) * 0xFF51_AFD7_ED55_8CCDL;
        mixed = (mixed ^ mixed >>> 33) * 0xC4CE_B9FE_1A85_EC53L;
        return mixed ^ mixed >>> 33;
    }
}
