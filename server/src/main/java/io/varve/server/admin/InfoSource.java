package io.varve.server.admin;

import java.util.List;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.server.acl.Denial;
import io.varve.server.admin.latency.HiccupMeter;
import io.varve.server.admin.latency.SlowLog;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.SnapshotStatus;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;
import org.jspecify.annotations.Nullable;

/** The figures that INFO is made of. Any thread may call it; the server's context implements it. */
public interface InfoSource {
    Cache cache();

    /** The flash tier; null if there is none. */
    @Nullable
    FlashTier flash();

    ServerConfig config();

    List<LoopCounters> loops();

    /** Changes of the data since the last SAVE or BGSAVE, or since the start. */
    long changesSinceSave();

    /** The current epoch; counters of another epoch are zero. */
    int counterEpoch();

    ErrorCounts errors();

    /** Unknown commands that clients sent. */
    UnknownCommands unknownCommands();

    /** Full names of commands and subcommands; the index is that of the counters. */
    List<String> commandNames();

    int connectedClients();

    /** Sums over all clients; it walks over all of them. */
    ClientTotals clientTotals();

    /** Which commands CLIENT PAUSE holds: none, write or all. */
    String pausedActions();

    /** Milliseconds until the pause of clients ends; 0 if there is none. */
    long pausedMillis();

    /** Sums about client-side caching. */
    TrackingTotals trackingTotals();

    /** Channels with at least one subscriber. */
    int channelCount();

    /** Patterns with at least one subscriber. */
    int patternCount();

    /** Shard channels with at least one subscriber. */
    int shardChannelCount();

    /** Heap bytes of messages that are not delivered to all subscribers yet. */
    long undeliveredMessageBytes();

    long connectionsReceived();

    long connectionsRejected();

    /** Clients disconnected because their input exceeded client-query-buffer-limit. */
    long overInputLimit();

    /** Clients disconnected because their unread output exceeded client-output-buffer-limit. */
    long overOutputLimit();

    /** Number of denials for this reason. */
    long accessDenied(Denial reason);

    HiccupMeter hiccups();

    SlowLog slowLog();

    /** The INFO report itself, which knows the peak. */
    InfoReport report();

    String runId();

    long uptimeSeconds();

    int port();

    /** The listening addresses, each as INFO shows it. */
    List<String> listeners();

    String transport();

    /** Snapshots that were saved and loaded. */
    SnapshotStatus snapshots();

    /** The load at the start. */
    LoadProgress load();

    /** The state of rewriting the log. */
    SnapshotStatus logRewrites();

    /** The append-only log. */
    AppendLog log();

    /** The replicas. */
    Replicas replicas();

    /** Scripts and libraries. */
    MemoryFigures.ScriptFigures scripts();

    /** Scripts of EVAL that made room for newer ones. */
    long evictedScripts();

    /** Whether the server follows a primary. */
    ReplicaRole role();

    String redisVersion();

    String varveVersion();
}
