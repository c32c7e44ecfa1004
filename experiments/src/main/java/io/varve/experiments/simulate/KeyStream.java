package io.varve.experiments.simulate;

import java.io.Closeable;
import java.io.IOException;

/** Requests, one after the other. Confined to one thread. */
public interface KeyStream extends Closeable {
    /** What a request does to its key's item. */
    enum Operation {
        READ, WRITE,
        /** It goes: deleted, or expired. */
        REMOVE
    }

    /** Moves on to the next request; false at the end. */
    boolean next() throws IOException;

    /** Its key: 64 well mixed bits. */
    long key();

    default Operation operation() {
        return Operation.READ;
    }

    /** What its item takes, after the request; 1 where that is not known. Of what is removed, nothing. */
    default long bytes() {
        return 1;
    }

    /** Whether the key is written after it was read. */
    default boolean updates() {
        return false;
    }

    @Override
    default void close() throws IOException {}
}
