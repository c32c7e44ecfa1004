package io.varve.memory.collection;

/** Puts the elements of a collection into a tree that is being made. Confined to the caller of the door. */
@FunctionalInterface
public interface TreeFiller {
    /** Puts at least one element into the tree that was handed over with this. */
    void fill();
}
