package io.varve.memory.collection;

import io.varve.memory.collection.tree.CountedTree;

/**
 * Reads the nodes on the way to several members before they are sought, so that the cache misses overlap. Otherwise
 * each search would wait for its own. Confined to the owner of a tree object, which holds the lock of the item's shard.
 */
public final class MembersAhead {
    /** The most members that are read together: so many leaves of a kilobyte fit into a second-level cache. */
    public static final int MAX_MEMBERS = 64;

    private final CountedTree tree;
    private final long[] hashes = new long[MAX_MEMBERS];
    private final int[] nodes = new int[MAX_MEMBERS];
    private int count;

    MembersAhead(CountedTree tree) {
        this.tree = tree;
    }

    /** Adds a member that is sought soon, present or not; false if there are as many already as are read together. */
    public boolean add(long member, int length) {
        if (count == MAX_MEMBERS) {
            return false;
        }
        hashes[count++] = tree.space().hash(member, length);
        return true;
    }

    /** Reads the nodes for the added members, and forgets them. */
    public void touch() {
        tree.touch(hashes, nodes, count);
        count = 0;
    }
}
