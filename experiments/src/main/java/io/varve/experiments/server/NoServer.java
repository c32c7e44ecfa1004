package io.varve.experiments.server;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/**
 * Stands for a server in a run that has none, or that starts its own ones. Immutable.
 *
 * @param startedBy what the run measures instead
 */
public record NoServer(String startedBy) implements Target {
    /** The memory tier alone, inside this process. */
    public NoServer() {
        this("the memory tier inside the process of the experiment, without a server");
    }

    @Override
    public String host() {
        throw new IllegalStateException("there is no server: " + startedBy);
    }

    @Override
    public int port() {
        throw new IllegalStateException("there is no server: " + startedBy);
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.of(ProcessHandle.current().pid());
    }

    @Override
    public @Nullable String death() {
        return null;
    }

    @Override
    public void close() {
        // There is nothing to stop.
    }
}
