package io.varve.experiments.simulate;

import java.io.IOException;
import java.util.Optional;

import io.varve.flash.simulation.Popularity;

/** A source of requests, which may be read several times. Immutable. */
public interface KeySource {
    /** Opens the stream at its beginning. */
    KeyStream open() throws IOException;

    /** Number of distinct requested keys; if it is unknown, reads the whole stream to count them. */
    long distinctKeys() throws IOException;

    /** Whether {@link KeyStream#bytes} returns bytes; else all items are alike. */
    default boolean hasSizes() {
        return false;
    }

    /** The theoretical request probabilities of all keys, with the sum 1; empty without a theory. */
    default Optional<Popularity> popularity() {
        return Optional.empty();
    }

    /** A description for the report. */
    String describe();
}
