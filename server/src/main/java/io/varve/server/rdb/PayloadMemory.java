package io.varve.server.rdb;

/** Where what is unpacked goes. Confined to its user. */
@FunctionalInterface
public interface PayloadMemory {
    /** So many bytes, which stay where they are until the user is done. */
    long take(int bytes);
}
