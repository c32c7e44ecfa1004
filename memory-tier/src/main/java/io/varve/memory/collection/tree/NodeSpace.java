package io.varve.memory.collection.tree;

/**
 * The storage of the nodes of large collections, which the shard implements for trees. Guarded by the lock of its
 * shard.
 *
 * <p>A node is named by a stable id, while its bytes may move. The tree writes the node's bytes, except the first four:
 * those hold the id of the node's tree.
 *
 * <p>Only two operations move a node's bytes: a resize of that node and, between {@link #begin} and {@link #commit}, a
 * call of {@link #forWriting} for it.
 */
public interface NodeSpace {
    /** No node, and no tree. */
    int NONE = 0;

    /**
     * Allocates a node of a tree; its bytes are undefined except for the tree's id.
     *
     * @param capacity bytes
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it
     */
    int allocate(int tree, int capacity);

    /** The address of a node's bytes, for reading. */
    long address(int node);

    /**
     * The address of a node's bytes, for writing.
     *
     * @throws io.varve.memory.item.CacheFullException only between {@link #begin} and {@link #commit}
     */
    long forWriting(int node);

    /** Bytes of a node. */
    int capacity(int node);

    /**
     * Changes the capacity of a node; the bytes up to the smaller of both stay.
     *
     * @throws io.varve.memory.item.CacheFullException if there is no memory for it; the node is then unchanged
     */
    void resize(int node, int capacity);

    /** Frees a node; between {@link #begin} and {@link #commit} the free is deferred. */
    void free(int node);

    /** The total bytes of a node of this capacity. */
    long itemBytes(int capacity);

    /** The target size of a node in bytes, which only a node with a single entry may exceed. */
    int targetBytes();

    /** The seeded hash of a member of a collection, 0 to 2^32 - 1: clients cannot choose many equal ones. */
    long hash(long address, int length);

    /**
     * Reserves memory for nodes that are about to be created or moved: until {@link #endReserve}, none of that number
     * is refused, so no undo is needed.
     *
     * @param nodes the number of nodes, none larger than the target size
     * @return false, with nothing reserved, if there is no such memory
     */
    boolean reserve(int nodes);

    /** Frees the rest of the reservation. */
    void endReserve();

    /** Makes all following changes to nodes undoable. */
    void begin();

    /** Keeps the changes since {@link #begin}. */
    void commit();

    /**
     * Restores all nodes to their state at {@link #begin}.
     *
     * @return bytes that were written since
     */
    long rollback();
}
