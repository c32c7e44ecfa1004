package io.varve.server.admin;

import java.util.List;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.server.config.ServerConfig;
import org.jspecify.annotations.Nullable;

/** What INFO is made of. Implemented by the server's context; any thread may call. */
public interface InfoSource {
    Cache cache();

    /** The tier below the cache; null if there is none. */
    @Nullable
    FlashTier flash();

    ServerConfig config();

    List<LoopCounters> loops();

    /** Counters of another epoch are zero. */
    int counterEpoch();

    ErrorCounts errors();

    /** Full names of commands and subcommands; the index is the one of the counters. */
    List<String> commandNames();

    int connectedClients();

    /** Walks all clients. */
    ClientTotals clientTotals();

    long connectionsReceived();

    long connectionsRejected();

    HiccupMeter hiccups();

    String runId();

    long uptimeSeconds();

    int port();

    String transport();

    long lastSaveSeconds();

    String redisVersion();

    String varveVersion();
}
