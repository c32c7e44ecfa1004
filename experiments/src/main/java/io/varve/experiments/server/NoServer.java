package io.varve.experiments.server;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/** The memory tier alone, inside this process, without a listening server. Immutable. */
public record NoServer() implements Target {
    @Override
    public String host() {
        throw new IllegalStateException("there is no server: the memory tier runs in process");
    }

    @Override
    public int port() {
        throw new IllegalStateException("there is no server: the memory tier runs in process");
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.of(ProcessHandle.current().pid());
    }

    @Override
    public String startedBy() {
        return "the memory tier inside the process of the experiment, without a server";
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
