package io.varve.server.rdb;

/** Growing memory in which a payload is built. Confined to its user. */
@FunctionalInterface
public interface GrowingMemory {
    /** Ensures a size of at least this many bytes; existing content is kept, but may move. @return its address */
    long require(long bytes);
}
