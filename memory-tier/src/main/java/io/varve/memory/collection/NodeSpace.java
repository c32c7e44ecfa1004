package io.varve.memory.collection;

/**
 * Where the nodes of large collections live: what a tree asks of whoever keeps items. Guarded by the lock of the shard
 * whose space it is.
 *
 * <p>A node is named by an id that stays while its bytes may move. Its bytes are the tree's to write, but for the first four:
 * those hold the id of the tree that it belongs to.
 *
 * <p>Nothing moves but the node that is resized or, between {@link #begin} and {@link #keep}, the one that is asked for with
 * {@link #forWriting}.
 */
public interface NodeSpace {
    /** No node, and no tree. */
    int NONE = 0;

    /**
     * A node of a tree, whose bytes are undefined but for the tree's id.
     *
     * @param capacity bytes
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it
     */
    int allocate(int tree, int capacity);

    /** Where a node's bytes are, for reading. */
    long address(int node);

    /**
     * Where a node's bytes are, for writing.
     *
     * @throws io.varve.memory.item.CacheFullException only between {@link #begin} and {@link #keep}
     */
    long forWriting(int node);

    /** Bytes that a node has. */
    int capacity(int node);

    /**
     * Gives a node another capacity; the bytes up to the smaller of both stay.
     *
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the node is then as it was
     */
    void resize(int node, int capacity);

    /** Frees a node; between {@link #begin} and {@link #keep} it only seems so. */
    void free(int node);

    /** What a node of this capacity takes in all, bytes. */
    long itemBytes(int capacity);

    /** How many bytes a node should have at most, unless one entry alone has more. */
    int targetBytes();

    /** The seeded hash of a member of a collection, 0 to 2^32 - 1: one of which nobody can choose many members that share it. */
    long hash(long address, int length);

    /**
     * Takes room for nodes that are about to be made or to move: until {@link #endReserve} none of so many is refused, so that nothing
     * has to be undone.
     *
     * @param nodes how many, none larger than a node should be
     * @return false if there is no such room; nothing was taken then
     */
    boolean reserve(int nodes);

    /** Gives back what is left of the room. */
    void endReserve();

    /** From now on whatever is done to nodes can be undone. */
    void begin();

    /** What was done since {@link #begin} stays. */
    void keep();

    /**
     * All nodes are as they were at {@link #begin}.
     *
     * @return bytes that were written since
     */
    long undo();
}
