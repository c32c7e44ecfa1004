package io.varve.experiments.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * A server under test that is running. Its address is immutable; {@link #close} is called by the thread that opened it.
 */
public interface Target extends AutoCloseable {
    String host();

    int port();

    /** The process whose time and memory are the server's; inside our own process the bench counts too. Empty if not here. */
    OptionalLong pid();

    /** How it was started, for a person who wants to do it again. */
    String startedBy();

    /** How long it took from its command to its first answer, in seconds; empty if it was not started by us, or not as a process. */
    default OptionalDouble startSeconds() {
        return OptionalDouble.empty();
    }

    /** Where its JVM logs when it stopped all its threads; empty if it was not asked to. */
    default Optional<Path> pauseLog() {
        return Optional.empty();
    }

    /** What has become of the server, in a few words; null while it lives or cannot be known. */
    @org.jspecify.annotations.Nullable
    String death();

    /** Stops what was started for us; leaves a server alone that was there before. */
    @Override
    void close() throws IOException;
}
