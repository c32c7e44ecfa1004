package io.varve.server;

import io.varve.memory.Cache;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ServerConfig;

/**
 * The commands as data, for a program that routes commands and runs none. Immutable: static methods only.
 *
 * <p>Families add their commands together with their handlers, which need a server. So the catalogue opens a server
 * state over the smallest cache, and closes both before it returns.
 */
public final class CommandCatalog {
    private static final String SMALLEST_CACHE = "1mb";

    private CommandCatalog() {}

    /** All commands. The handlers of this table must not be called. */
    public static CommandTable open() {
        ServerConfig config = ServerConfig.defaults().with("maxmemory", SMALLEST_CACHE).with("appendonly", "no");
        try (Cache cache = Cache.open(config.cacheConfig());
                ServerState server = new ServerState(cache, config, config.cacheConfig().ticker(), _ -> {})) {
            return CommandFamilies.table(server);
        }
    }
}
