package io.varve.memory.index;

/** Takes the locations that a walk over the index reports. Called under the shard's lock; must not change the index. */
@FunctionalInterface
public interface LocationVisitor {
    void visit(long location);
}
