package io.varve.server.command;

import java.util.Set;

import io.varve.server.config.ServerConfig;

/** Applies those settings that may change at run time. {@link ServerState} calls it under its own lock. */
@FunctionalInterface
public interface ConfigListener {
    /**
     * Prepares the changed settings.
     *
     * @param named the settings that were named, changed or not
     * @return applies them after all other listeners have prepared theirs
     * @throws io.varve.server.config.ConfigException if the settings cannot be applied
     */
    Change prepare(ServerConfig changed, Set<String> named);

    /** A prepared change. The caller invokes exactly one of its methods, once. */
    @FunctionalInterface
    interface Change {
        Change NONE = () -> {};

        void apply();

        /** Discards the prepared change, because another listener or the cache refused its part. */
        default void undo() {}
    }
}
