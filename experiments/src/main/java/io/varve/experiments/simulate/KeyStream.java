package io.varve.experiments.simulate;

import java.io.Closeable;
import java.io.IOException;

/** Requests, one after the other. Confined to one thread. */
public interface KeyStream extends Closeable {
    /** Moves on to the next request; false at the end. */
    boolean next() throws IOException;

    /** Its key: 64 well mixed bits. */
    long key();

    /** Whether the key is written after it was read. */
    default boolean updates() {
        return false;
    }

    @Override
    default void close() throws IOException {}
}
