package io.varve.server.admin;

import java.util.List;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.server.acl.Denial;
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

    /** Changes of the data since the last SAVE or BGSAVE, or since the start. */
    long changesSinceSave();

    /** Counters of another epoch are zero. */
    int counterEpoch();

    ErrorCounts errors();

    /** What clients sent that is no command here. */
    UnknownCommands unknownCommands();

    /** Full names of commands and subcommands; the index is the one of the counters. */
    List<String> commandNames();

    int connectedClients();

    /** Walks all clients. */
    ClientTotals clientTotals();

    /** Who is told of keys they may have cached. */
    TrackingTotals trackingTotals();

    /** Channels that somebody listens to. */
    int channelCount();

    /** Patterns that somebody listens to. */
    int patternCount();

    /** Shard channels that somebody listens to. */
    int shardChannelCount();

    /** Bytes of the heap that hold messages which not all who listen have been sent yet. */
    long undeliveredMessageBytes();

    long connectionsReceived();

    long connectionsRejected();

    /** Clients disconnected because what they sent was over client-query-buffer-limit. */
    long overInputLimit();

    /** Clients disconnected because what they did not read was over client-output-buffer-limit. */
    long overOutputLimit();

    /** How often users' rules denied something for this reason. */
    long accessDenied(Denial reason);

    HiccupMeter hiccups();

    SlowLog slowLog();

    /** INFO itself, which knows the peak. */
    InfoReport report();

    String runId();

    long uptimeSeconds();

    int port();

    /** Where clients may connect, each as INFO shows it. */
    List<String> listeners();

    String transport();

    long lastSaveSeconds();

    String redisVersion();

    String varveVersion();
}
