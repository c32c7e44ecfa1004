package io.varve.server.command;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Ticker;
import io.varve.memory.shard.ShardSet;
import io.varve.server.acl.AccessControl;
import io.varve.server.admin.LogLevel;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.clustering.ClusterOptions;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Clients;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.LogLifecycle;
import io.varve.server.persistence.RecordedRemovals;
import io.varve.server.persistence.Snapshots;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.script.Scripting;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server state that all commands share beside the keys: configuration, commands, users, and the parts for clients,
 * notifications and telemetry. Thread-safe: every part guards itself; the configuration is replaced as a whole.
 */
public final class ServerState implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ServerState.class);
    /** The exit status of a process that cannot go on. */
    private static final int FAILED = 1;

    private final Cache cache;
    private final @Nullable FlashTier flash;
    private final Ticker ticker;
    private final RequestHeapBudget argumentMemory;
    private final BlockedKeys blockedKeys;
    private final Notifications notifications;
    private final ClientLifecycle lifecycle;
    private final Telemetry telemetry;
    private final ChangeStream changes = new ChangeStream();
    private final RecordedRemovals removals;
    private final Replicas replicas;
    private final AppendLog log;
    private final LoadProgress load;
    private final ClientPause pause;
    private final AccessGuard accessGuard = new AccessGuard(this);
    private final List<ConfigListener> configListeners = new CopyOnWriteArrayList<>();
    private final Consumer<String> shutdown;
    private final @Nullable ClusterState cluster;
    private final Scripting scripting;
    private volatile ServerConfig config;
    private volatile boolean activeExpire = true;
    private volatile CommandTable commands = CommandTable.builder().build();
    private volatile AccessControl access;
    private volatile @Nullable Snapshots snapshots;
    private volatile @Nullable LogLifecycle logLifecycle;
    private volatile Snapshots.Task logReload = () -> {
        throw new IOException("this server cannot load a log again");
    };
    private volatile ReplicaRole role = ReplicaRole.PRIMARY;

    /** @param shutdown requests the end of the process, with the reason; returns at once */
    public ServerState(Cache cache, ServerConfig config, Ticker ticker, Consumer<String> shutdown) {
        this(cache, null, config, ticker, AppendLog::new, shutdown);
    }

    /**
     * @param flash the flash tier; null if there is none
     * @param shutdown requests the end of the process, with the reason; returns at once
     */
    public ServerState(Cache cache, @Nullable FlashTier flash, ServerConfig config, Ticker ticker,
            AppendLog.Factory logs, Consumer<String> shutdown) {
        this.cache = cache;
        this.flash = flash;
        this.ticker = ticker;
        this.config = config;
        this.shutdown = shutdown;
        load = new LoadProgress(ticker);
        scripting = new Scripting(name -> commands().find(name), Version.REDIS, ticker::nanoTime,
                () -> this.config.number("busy-reply-threshold"));
        pause = new ClientPause(ticker, changes, cache);
        removals = new RecordedRemovals(changes, cache);
        replicas = new Replicas(changes, removals, this::config, ticker);
        removals.onLoss(replicas::loseHistory);
        log = logs.create(changes, ticker, ServerState::fail);
        access = AccessControl.open(new CommandNameIndex(commands), GlobPattern::matches, ServerConfig.defaults());
        long ofFlash = flash == null ? 0 : config.number("flash-cache-size") + 2 * config.number("flash-queue-size");
        argumentMemory = RequestHeapBudget.ofHeapBeside(ofFlash + Notifications.heapBytes());
        Clients clients = new Clients();
        blockedKeys = new BlockedKeys(cache);
        notifications = new Notifications(cache, clients, argumentMemory, config);
        lifecycle = new ClientLifecycle(clients, cache, flash != null, blockedKeys, notifications, argumentMemory,
                ticker, this::config, this::access);
        telemetry = new Telemetry(cache, flash, ticker, this::config, this::access, lifecycle, notifications,
                log, load, replicas, scripting, pause);
        log.timings().listener(this::tookLong);
        ClusterState member = ClusterState.open(config, ticker::nanoTime);
        cluster = member;
        if (member != null) {
            onConfig((changed, _) -> () -> member.options(ClusterOptions.of(changed)));
        }
    }

    private void tookLong(String event, long nanos) {
        long threshold = config.latencyThresholdMillis();
        long millis = TimeUnit.NANOSECONDS.toMillis(nanos);
        if (threshold > 0 && millis >= threshold) {
            telemetry.latencies().add(event, TimeUnit.MILLISECONDS.toSeconds(ticker.wallMillis()), millis);
        }
    }

    public Cache cache() {
        return cache;
    }

    /** The flash tier; null if there is none. */
    public @Nullable FlashTier flash() {
        return flash;
    }

    /** The member of a cluster that this server is; null if it is none. */
    public @Nullable ClusterState cluster() {
        return cluster;
    }

    /** The connection to the primary is lost. */
    public void primaryLost() {
        if (cluster != null) {
            cluster.primaryLost();
        }
    }

    /** The machine's clock, also while {@link io.varve.server.persistence.ReplayClock} stops the cache's. */
    public Ticker ticker() {
        return ticker;
    }

    /** The load at the start. */
    public LoadProgress load() {
        return load;
    }

    /** The heap budget for giant requests. */
    public RequestHeapBudget argumentMemory() {
        return argumentMemory;
    }

    /** The keys that clients wait for. */
    public BlockedKeys blockedKeys() {
        return blockedKeys;
    }

    /** Notifications for clients. */
    public Notifications notifications() {
        return notifications;
    }

    /** The clients from connect to disconnect. */
    public ClientLifecycle lifecycle() {
        return lifecycle;
    }

    /** Counters and reports. */
    public Telemetry telemetry() {
        return telemetry;
    }

    public ServerConfig config() {
        return config;
    }

    /** All ACL users. */
    public AccessControl access() {
        return access;
    }

    /** The checker of ACL rules. */
    public AccessGuard accessGuard() {
        return accessGuard;
    }

    /** Registers a listener for changed settings. */
    public void onConfig(ConfigListener listener) {
        configListeners.add(listener);
    }

    /**
     * Applies a changed configuration to the cache, the listeners and this server.
     *
     * @param named the settings that were named, changed or not
     * @throws ConfigException if one of them cannot be applied; nothing is changed then
     */
    public synchronized void config(ServerConfig changed, Set<String> named) {
        List<ConfigListener.Change> changes = new ArrayList<>();
        try {
            for (ConfigListener listener : configListeners) {
                changes.add(listener.prepare(changed, named));
            }
            cache.reconfigure(cacheConfig(changed));
        } catch (RuntimeException refused) {
            changes.forEach(ConfigListener.Change::undo);
            throw refused;
        }
        changes.forEach(ConfigListener.Change::apply);
        access.reconfigure(config, changed);
        if (!changed.text("loglevel").equals(config.text("loglevel"))) {
            LogLevel.apply(changed.text("loglevel"));
        }
        config = changed;
        notifications.config(changed);
    }

    /** Keeps the values that "auto" resolved to when the cache was opened. */
    private CacheConfig cacheConfig(ServerConfig changed) {
        CacheConfig opened = cache.config();
        CacheConfig wanted = role.isReplica()
                ? changed.cacheConfig().withMaxMemoryBytes(cache.highestMaxMemoryBytes())
                : changed.cacheConfig();
        return wanted.withActiveExpire(activeExpire).withHashSeed(opened.hashSeed())
                .withTicker(opened.ticker()).withShards(opened.shards())
                .withSegmentSizeBytes(opened.segmentSizeBytes()).withMaxOpenSegments(opened.maxOpenSegments());
    }

    /** Applies {@code maxmemory}. As in Redis, a replica has no limit: its primary decides what is evicted. */
    public synchronized void limitMemory() {
        cache.reconfigure(cacheConfig(config));
    }

    /** DEBUG SET-ACTIVE-EXPIRE: whether maintenance reclaims expired items. */
    public synchronized void activeExpire(boolean active) {
        activeExpire = active;
        cache.reconfigure(cache.config().withActiveExpire(active));
    }

    /** Requests the end of the process; returns at once. */
    public void shutdown(String reason) {
        load.cancel();
        shutdown.accept(reason);
    }

    /** The changes of the key space, for log and replicas. */
    public ChangeStream changes() {
        return changes;
    }

    /**
     * A client has made a change.
     *
     * @param offset after its record
     */
    public void recorded(Client client, long offset) {
        if (offset != ChangeStream.DROPPED) {
            client.repliesAfter(offset);
        } else if (config.bool("replica-read-only")) {
            // The primary will never have the change, which was admitted before this server became a replica.
            client.abort();
        }
    }

    /** Records removals that are not the effect of a command. */
    public RecordedRemovals removals() {
        return removals;
    }

    /** The replicas of this server. */
    public Replicas replicas() {
        return replicas;
    }

    /** Whether this server follows a primary. */
    public ReplicaRole role() {
        return role;
    }

    /** Sets what follows primaries; once, before the first connection. */
    public void role(ReplicaRole able) {
        role = able;
        telemetry.role(able);
    }

    /** Changes {@code replicaof}, for CONFIG GET and CONFIG REWRITE: a host and a port, or empty. */
    public void remember(String primary) {
        config(config.with("replicaof", primary), Set.of("replicaof"));
    }

    /**
     * Ends the waits of clients, as Redis does for a server that becomes a replica. Those for keys would take elements.
     * Those of WAIT and WAITAOF would be confirmed by replicas of another history, or never.
     */
    public void endBlockedClients() {
        for (Client client : lifecycle.clients().unordered()) {
            BlockedClient blocked = client.waitState().blockedClient();
            ParkedCommand parked = client.waitState().parkedCommand();
            if (blocked != null) {
                blockedKeys.end(blocked, BlockedClient.End.REPLICA);
            } else if (parked != null && parked.isEndable()) {
                parked.answer(reply -> reply.error(Errors.NOW_A_REPLICA));
            }
        }
    }

    /**
     * Waits until no command runs that has locked a shard before: a command that locks one later sees what was set
     * before this call. The calling thread holds no shard.
     */
    public void awaitOlderCommands() {
        CacheSession session = cache.newSession();
        for (int i = 0; i < cache.shardCount(); i++) {
            ShardSet one = new ShardSet(cache.shardCount());
            one.add(i);
            session.lock(one);
            session.unlock(one);
        }
    }

    /** Scripts and libraries. */
    public Scripting scripting() {
        return scripting;
    }

    /** Sets the task that loads the log in place of all data. */
    public void logReload(Snapshots.Task task) {
        logReload = task;
    }

    /** See {@link #logReload(Snapshots.Task)}. */
    public Snapshots.Task logReload() {
        return logReload;
    }

    /** The pause of clients (CLIENT PAUSE). */
    public ClientPause pause() {
        return pause;
    }

    /** The append-only log; it is open if {@code appendonly} is yes. */
    public AppendLog log() {
        return log;
    }

    /** Opens and rewrites the log; set with the commands. */
    public LogLifecycle logLifecycle() {
        return Objects.requireNonNull(logLifecycle);
    }

    /** Ends the log, if it was begun. */
    public void endLog() {
        LogLifecycle control = logLifecycle;
        if (control != null) {
            control.close();
        }
    }

    /** Frees the memory of the change stream. Called when no thread uses it any more. */
    @Override
    public void close() {
        replicas.close();
        changes.close();
        if (cluster != null) {
            cluster.close();
        }
    }

    /** See {@link #logLifecycle()}. */
    public void logLifecycle(LogLifecycle control) {
        logLifecycle = control;
    }

    /** Ends the process at once: it cannot keep what it has promised. */
    private static void fail(String reason) {
        LOG.error("The process ends: {}", reason);
        Runtime.getRuntime().halt(FAILED);
    }

    /** The saver of snapshots; set with the commands. */
    public Snapshots snapshots() {
        return Objects.requireNonNull(snapshots);
    }

    /** See {@link #snapshots()}. */
    public void snapshots(Snapshots saver) {
        snapshots = saver;
    }

    /** All commands; set once the table is complete, before the first connection. */
    public CommandTable commands() {
        return commands;
    }

    /**
     * Sets the complete command table.
     *
     * @throws ConfigException if the configured users are invalid
     */
    public void commands(CommandTable complete) {
        commands = complete;
        access = AccessControl.open(new CommandNameIndex(complete), GlobPattern::matches, config);
        config = config.withoutUsers();
        telemetry.commands(complete);
    }
}
