package io.varve.experiments.simulate;

import java.io.Closeable;
import java.io.IOException;

/** A stream of requests. Confined to one thread. */
public interface KeyStream extends Closeable {
    /** The effect of a request on its key's item. */
    enum Operation {
        READ, WRITE,
        /** Deletes or expires the item. */
        REMOVE
    }

    /** Moves to the next request; false at the end. */
    boolean next() throws IOException;

    /** The current key: 64 well-mixed bits. */
    long key();

    default Operation operation() {
        return Operation.READ;
    }

    /** The size of the item after the request; 1 if it is unknown, 0 for a removal. */
    default long bytes() {
        return 1;
    }

    /** Whether the key is written after its read. */
    default boolean updates() {
        return false;
    }

    @Override
    default void close() throws IOException {}
}
