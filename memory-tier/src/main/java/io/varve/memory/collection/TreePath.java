package io.varve.memory.collection;

import java.util.Arrays;

/**
 * Where an element of a tree is: the nodes from the root down to its leaf, and its place there. Confined to the owner of a tree
 * object; valid until the tree is changed by other means.
 *
 * <p>Level 0 is the leaf. The place behind the last entry of the last leaf is the end.
 */
final class TreePath {
    /** The rank of who has come here by a search: few want to know it, and it takes a look at half of each node on the way. */
    static final long UNKNOWN = -1;
    /** More levels than a tree gets that ids of 32 bits can name the nodes of. */
    static final int MOST_LEVELS = 24;

    final int[] nodes = new int[MOST_LEVELS];
    /** Which child of the node the path goes through. */
    final int[] slots = new int[MOST_LEVELS];
    /** Levels above the leaf. */
    int height;
    /** Which entry of the leaf, and where it is, from the leaf's start. */
    int index;
    int offset;
    /** How many elements come before, or {@link #UNKNOWN}: {@link CountedTree#rank} then counts them. */
    long rank;

    /** Where the entries of one leaf are, for steps backwards. */
    private final int[] offsets = new int[LeafFormat.MOST_ENTRIES + 1];
    private int offsetsOf = NodeSpace.NONE;

    int leaf() {
        return nodes[0];
    }

    /** The tree has changed: what was noted of a leaf may be wrong. */
    void forget() {
        offsetsOf = NodeSpace.NONE;
    }

    /** So many elements more come before. */
    void passed(int elements) {
        if (rank != UNKNOWN) {
            rank += elements;
        }
    }

    /** Goes to an entry of the leaf by what was noted of it, or is noted now. */
    void step(LeafFormat format, long leaf, int newIndex) {
        if (offsetsOf != leaf()) {
            int at = NodeLayout.HEADER_BYTES;
            int count = NodeLayout.count(leaf);
            for (int i = 0; i < count; i++) {
                offsets[i] = at;
                at += format.bytesAt(leaf + at);
            }
            offsets[count] = at;
            offsetsOf = leaf();
        }
        index = newIndex;
        offset = offsets[newIndex];
    }

    void copyFrom(TreePath other) {
        System.arraycopy(other.nodes, 0, nodes, 0, other.height + 1);
        System.arraycopy(other.slots, 0, slots, 0, other.height + 1);
        height = other.height;
        index = other.index;
        offset = other.offset;
        rank = other.rank;
        forget();
    }

    @Override
    public String toString() {
        return rank + ": " + Arrays.toString(Arrays.copyOf(nodes, height + 1)) + " at " + index;
    }
}
