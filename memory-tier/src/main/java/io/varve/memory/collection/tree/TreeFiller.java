package io.varve.memory.collection.tree;

/** A callback that puts the elements of a collection into a new tree. Confined to the calling thread. */
@FunctionalInterface
public interface TreeFiller {
    /** Puts at least one element into the tree that {@code CacheSession.makeTree} received with this filler. */
    void fill();
}
