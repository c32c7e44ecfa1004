package io.varve.memory.index;

/**
 * A callback for the locations that an index walk reports. Called under the shard's lock; must not change the index.
 */
@FunctionalInterface
public interface LocationVisitor {
    void visit(long location);
}
