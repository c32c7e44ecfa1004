package io.varve.memory.collection.tree;

import java.util.Arrays;

/**
 * The position of an element in a tree: the nodes from the root to its leaf, and its index there. Confined to the owner
 * of a tree object; valid until the tree is changed by other means.
 *
 * <p>Level 0 is the leaf. The position behind the last entry of the last leaf is the end.
 */
public final class TreePath {
    /** The rank of a path after a search: few callers need it, and counting reads half of each node on the way. */
    static final long UNKNOWN = -1;
    /** More levels than a tree with 32-bit node ids can have. */
    static final int MAX_LEVELS = 24;

    final int[] nodes = new int[MAX_LEVELS];
    /**
     * The slot of the child that the path takes in each node. A later search, perhaps of another tree, tries it first:
     * see {@link LeafFormat#isMostlyAscending}.
     */
    final int[] slots = new int[MAX_LEVELS];
    /** Levels above the leaf. */
    int height;
    /** The index of the leaf's entry, and its offset from the leaf's start. */
    public int index;
    public int offset;
    /** The number of elements before, or {@link #UNKNOWN}: {@link CountedTree#rank} then counts them. */
    long rank;
    /** The sink of {@link NodeLayout#touch}. */
    int touched;

    /** The offsets of one leaf's entries, for steps backwards. */
    private final int[] offsets = new int[LeafFormat.MAX_ENTRIES + 1];
    private int offsetsOf = NodeSpace.NONE;

    public int leaf() {
        return nodes[0];
    }

    /** Discards the recorded offsets, because the tree has changed. */
    public void forget() {
        offsetsOf = NodeSpace.NONE;
    }

    /** Adds to the number of elements before. */
    public void passed(int elements) {
        if (rank != UNKNOWN) {
            rank += elements;
        }
    }

    /** Moves to an entry of the leaf, by recorded offsets; records them first if necessary. */
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

    public void copyFrom(TreePath other) {
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
