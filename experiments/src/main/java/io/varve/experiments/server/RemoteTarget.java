package io.varve.experiments.server;

import java.util.OptionalLong;

import org.jspecify.annotations.Nullable;

/** A server that this program did not start: it is measured as it is, and never stopped. Immutable. */
public record RemoteTarget(String host, int port) implements Target {
    @Override
    public OptionalLong pid() {
        return OptionalLong.empty();
    }

    @Override
    public String startedBy() {
        return "already running at " + host + ":" + port;
    }

    @Override
    public @Nullable String death() {
        return null;
    }

    @Override
    public void close() {
        // The server is not ours to stop.
    }
}
