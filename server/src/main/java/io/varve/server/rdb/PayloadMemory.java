package io.varve.server.rdb;

/** Allocates memory for decompressed bytes. Confined to its user. */
@FunctionalInterface
public interface PayloadMemory {
    /** Allocates bytes, which do not move until the user is done. */
    long take(int bytes);
}
