package io.varve.experiments.simulate;

import java.io.IOException;
import java.util.Optional;

import io.varve.flash.simulation.Popularity;

/** Where requests come from; may be read several times. */
public interface KeySource {
    /** From the beginning. */
    KeyStream open() throws IOException;

    /** How many different keys are asked for; where nobody knows that, reads all of it to count them. */
    long distinctKeys() throws IOException;

    /** Whether {@link KeyStream#bytes} tells bytes; else all items are alike. */
    default boolean hasSizes() {
        return false;
    }

    /** How often each key is asked for in theory, the sum being 1; empty where there is no theory. */
    default Optional<Popularity> popularity() {
        return Optional.empty();
    }

    /** What it is, for the report. */
    String describe();
}
