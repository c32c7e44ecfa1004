package io.varve.server.rdb;

/** Where a payload is put together. Confined to its user. */
@FunctionalInterface
public interface GrowingMemory {
    /** Makes it so many bytes at least; what was written stays, but may move. @return where it is */
    long require(long bytes);
}
