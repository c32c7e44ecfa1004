package io.varve.experiments.server;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/** The memory tier alone, inside this process: nothing listens anywhere. Immutable. */
public record NoServer() implements Target {
    @Override
    public String host() {
        throw new IllegalStateException("nothing listens: the memory tier is called in process");
    }

    @Override
    public int port() {
        throw new IllegalStateException("nothing listens: the memory tier is called in process");
    }

    @Override
    public OptionalLong pid() {
        return OptionalLong.of(ProcessHandle.current().pid());
    }

    @Override
    public String startedBy() {
        return "the memory tier alone, inside the experiment's process";
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
