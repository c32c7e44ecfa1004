package io.varve.server.command;

import java.util.Set;

import io.varve.server.config.ServerConfig;

/** Who has a part of the settings that may change at run time. */
@FunctionalInterface
public interface ConfigListener {
    /**
     * Makes ready what the changed settings ask for.
     *
     * @param named the settings that were named, be they changed or not
     * @return puts it to use, once all others are ready too
     * @throws io.varve.server.config.ConfigException if it cannot be
     */
    Change prepare(ServerConfig changed, Set<String> named);

    /** What is ready to be put to use. One of its methods is called, once. */
    @FunctionalInterface
    interface Change {
        Change NONE = () -> {};

        void apply();

        /** Gives up what was made ready, as another listener, or the cache, has refused. */
        default void undo() {}
    }
}
