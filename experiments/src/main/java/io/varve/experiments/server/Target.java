package io.varve.experiments.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/** A running server under test. Its address is immutable; the thread that opened it calls {@link #close}. */
public interface Target extends AutoCloseable {
    String host();

    int port();

    /**
     * The process whose time and memory are the server's; inside our own process the load counts too. Empty if it runs
     * elsewhere.
     */
    OptionalLong pid();

    /** The command that started it, for reproduction. */
    String startedBy();

    /** Time from its command to its first reply, in seconds; empty if we did not start it, or not as a process. */
    default OptionalDouble startSeconds() {
        return OptionalDouble.empty();
    }

    /** The pause log of its JVM; empty if there is none. */
    default Optional<Path> pauseLog() {
        return Optional.empty();
    }

    /** The servers among which clients divide the keys; this one alone, unless it stands for several. */
    default List<Target> members() {
        return List.of(this);
    }

    /** The reason of the server's end, in a few words; null while it is alive or its state is unknown. */
    @org.jspecify.annotations.Nullable
    String death();

    /** Stops a server that was started for us; a server that ran before continues. */
    @Override
    void close() throws IOException;
}
