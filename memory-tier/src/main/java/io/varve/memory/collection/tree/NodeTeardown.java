package io.varve.memory.collection.tree;

/**
 * Frees the nodes of an unreachable tree, some at a time. Immutable: a static method only.
 *
 * <p>After each step the rest is a tree without its last children, whose inner nodes count the remaining ones. The
 * caller therefore has to remember only the root.
 */
public final class NodeTeardown {
    private NodeTeardown() {}

    /**
     * Frees some nodes, the last leaf first.
     *
     * @param max the most leaves to free
     * @return the root, or {@link NodeSpace#NONE} when nothing is left
     */
    public static int free(NodeSpace space, int root, int max) {
        if (root == NodeSpace.NONE || NodeLayout.isLeaf(space.address(root))) {
            return freeNode(space, root);
        }
        int left = max;
        while (left > 0) {
            int freed = freeUnderLowest(space, root, left);
            if (freed < 0) {
                return freeNode(space, root);
            }
            left -= Math.max(1, freed);
        }
        return root;
    }

    private static int freeNode(NodeSpace space, int node) {
        if (node != NodeSpace.NONE) {
            space.free(node);
        }
        return NodeSpace.NONE;
    }

    /**
     * Frees leaves under the last node of level 1, or the node itself if it has none.
     *
     * @return the number of freed leaves, or -1 if the root has no children
     */
    private static int freeUnderLowest(NodeSpace space, int root, int max) {
        long parent = 0;
        int node = root;
        long at = space.address(node);
        while (NodeLayout.level(at) > 1 && NodeLayout.count(at) > 0) {
            parent = at;
            node = InnerLayout.child(at, NodeLayout.count(at) - 1);
            at = space.address(node);
        }
        int count = NodeLayout.count(at);
        if (count == 0) {
            if (node == root) {
                return -1;
            }
            space.free(node);
            NodeLayout.count(parent, NodeLayout.count(parent) - 1);
            return 0;
        }
        int freed = Math.min(count, max);
        for (int i = 0; i < freed; i++) {
            space.free(InnerLayout.child(at, count - 1 - i));
        }
        NodeLayout.count(at, count - freed);
        return freed;
    }
}
