package io.varve.server;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.admin.LogLevel;
import io.varve.server.admin.http.MetricsServer;
import io.varve.server.admin.metrics.Health;
import io.varve.server.admin.metrics.Metrics;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerState;
import io.varve.server.command.registry.CommandFamilies;
import io.varve.server.config.ConfigException;
import io.varve.server.config.IgnoredSettings;
import io.varve.server.config.ServerConfig;
import io.varve.server.config.Settings;
import io.varve.server.following.Follower;
import io.varve.server.membership.ControllerLink;
import io.varve.server.migration.SlotMigrations;
import io.varve.server.net.NetworkServer;
import io.varve.server.persistence.AppendLog;
import io.varve.server.persistence.LoadProgress;
import io.varve.server.persistence.ReplayClock;
import io.varve.server.recovery.Recovery;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server: the tiers, the maintenance thread, the network and, if configured, the metrics endpoint. Immutable
 * once started; any thread may call {@link #close}, repeatedly.
 */
public final class VarveServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VarveServer.class);

    private final Tiers tiers;
    private final NetworkServer network;
    private final Maintenance maintenance;
    private final ServerState server;
    private final @Nullable MetricsServer metrics;
    /** Null if no controllers own the slots of this server. */
    private final @Nullable SlotMigrations migrations;
    private final Health health;
    private final CountDownLatch shutdown;
    /** Null if the server has no controllers. */
    private final @Nullable ControllerLink link;
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean saving;

    private VarveServer(Tiers tiers, NetworkServer network, Maintenance maintenance, ServerState server,
            @Nullable MetricsServer metrics, @Nullable SlotMigrations migrations, Health health,
            CountDownLatch shutdown, @Nullable ControllerLink link) {
        this.tiers = tiers;
        this.network = network;
        this.maintenance = maintenance;
        this.server = server;
        this.metrics = metrics;
        this.migrations = migrations;
        this.health = health;
        this.shutdown = shutdown;
        this.link = link;
    }

    /**
     * Opens a cache and serves it.
     *
     * @throws IOException if it cannot listen
     * @throws io.varve.server.config.ConfigException if the settings, or a file that they name, are invalid
     */
    public static VarveServer start(ServerConfig config) throws IOException {
        return start(config, Tiers.open(config.validate()));
    }

    /**
     * As {@link #start(ServerConfig)}.
     *
     * @param onLoad receives, before the data is loaded, an action that cancels the load: the start then throws
     *     {@link LoadProgress.CancelledException}
     */
    static VarveServer start(ServerConfig config, Consumer<Runnable> onLoad) throws IOException {
        return start(config, Tiers.open(config.validate()), AppendLog::new, onLoad);
    }

    public static VarveServer start(ServerConfig config, Cache cache) throws IOException {
        return start(config, new Tiers(cache, null));
    }

    public static VarveServer start(ServerConfig config, Tiers tiers) throws IOException {
        return start(config, tiers, AppendLog::new, _ -> {});
    }

    /** As {@link #start(ServerConfig, Tiers)}, with a log over another disk. */
    static VarveServer start(ServerConfig config, Tiers tiers, AppendLog.Factory logs) throws IOException {
        return start(config, tiers, logs, _ -> {});
    }

    private static VarveServer start(ServerConfig config, Tiers tiers, AppendLog.Factory logs,
            Consumer<Runnable> onLoad) throws IOException {
        Cache cache = tiers.cache();
        CountDownLatch shutdown = new CountDownLatch(1);
        Health health = new Health();
        if (!config.text("loglevel").equals(ServerConfig.defaults().text("loglevel"))) {
            // A program that embeds the server and does not set a level keeps its own.
            LogLevel.apply(config.text("loglevel"));
        }
        MetricsServer metrics = null;
        NetworkServer network = null;
        ServerState begun = null;
        ControllerLink link = null;
        SlotMigrations migrations = null;
        try {
            ServerState server = new ServerState(cache, tiers.flash(), config, machineTicker(cache), logs, _ -> {
                health.stopping();
                shutdown.countDown();
            });
            begun = server;
            onLoad.accept(server.load()::cancel);
            warnOfInert(server);
            warnOfClients(server);
            CommandTable table = CommandFamilies.table(server);
            AtomicInteger port = new AtomicInteger();
            server.logReload(() -> Recovery.reload(server, table));
            server.role(new Follower(server, table, port::get));
            if (server.role().isReplica()) {
                prepareReplica(server);
            }
            // Before the network: no client may find a part of the data, and a second process must not take the place
            // of the one that has the log.
            Recovery.prepare(server);
            server.load().begin();
            metrics = startMetrics(server, health);
            network = NetworkServer.start(server, table);
            port.set(config.bool("tls-replication") ? network.tlsPort() : network.port());
            announce(server, network);
            health.listening();
            Recovery.run(server, table);
            server.load().end();
            followPrimary(server);
            migrations = SlotMigrations.start(server);
            link = ControllerLink.start(server);
            reportLoaded(server, health);
            return new VarveServer(tiers, network, Maintenance.start(cache, network, server), server, metrics,
                    migrations, health, shutdown, link);
        } catch (IOException | RuntimeException | Error failed) {
            health.stopping();
            if (migrations != null) {
                migrations.close();
            }
            if (link != null) {
                link.close();
            }
            if (network != null) {
                network.close();
            }
            if (metrics != null) {
                metrics.close();
            }
            if (begun != null) {
                begun.role().close();
                begun.endLog();
                begun.close();
            }
            tiers.close();
            throw failed;
        }
    }

    private static void prepareReplica(ServerState server) {
        if (server.flash() != null) {
            throw new ConfigException("replicaof " + server.config().text("replicaof") + ": expected no flash-dir: the"
                    + " primary decides which keys a replica has, and the flash tier drops keys by itself");
        }
        server.limitMemory();
    }

    private static void followPrimary(ServerState server) {
        String primary = server.config().text("replicaof");
        if (!primary.isEmpty()) {
            String[] hostAndPort = primary.split(" ", -1);
            server.role().follow(hostAndPort[0], Integer.parseInt(hostAndPort[1]));
        }
    }

    /** Tells the cluster's other members and clients where this member listens. */
    private static void announce(ServerState server, NetworkServer network) {
        ClusterState cluster = server.cluster();
        if (cluster != null) {
            cluster.listening(server.config().text("bind"),
                    network.port() == 0 ? network.tlsPort() : network.port());
        }
    }

    private static Ticker machineTicker(Cache cache) {
        Ticker ticker = cache.config().ticker();
        return ticker instanceof ReplayClock clock ? clock.machine() : ticker;
    }

    /** The server is ready once the keys on flash are known, too. */
    private static void reportLoaded(ServerState server, Health health) {
        FlashTier flash = server.flash();
        if (flash == null) {
            health.loaded();
        } else {
            flash.whenComplete(health::loaded);
        }
    }

    /** Warns at the start, and whenever settings change. */
    private static void warnOfInert(ServerState server) {
        IgnoredSettings ignoredSettings = new IgnoredSettings();
        ignoredSettings.warn(server.config(), Settings.all().keySet());
        ignoredSettings.warnOfDemand(server.config());
        ignoredSettings.warnOfDirectory(server.config());
        ignoredSettings.warnOfMemory(server.config());
        server.onConfig((changed, named) -> () -> {
            ignoredSettings.warn(changed, named);
            ignoredSettings.warnOfDemand(changed);
            ignoredSettings.warnOfMemory(changed);
        });
    }

    /** Warns as Redis does where the system allows fewer connections. */
    private static void warnOfClients(ServerState server) {
        long wanted = server.config().number("maxclients");
        if (server.lifecycle().maxClients() < wanted) {
            LOG.warn(
                    "maxclients {}: the heap of {} MB limits it to {}; a larger heap (a larger container, or with"
                            + " the launcher "
                            + "VARVE_JAVA_OPTS=-Xmx...) allows more",
                    wanted, Runtime.getRuntime().maxMemory() >> 20,
                    server.lifecycle().maxClients());
        }
    }

    /**
     * Starts before the network, so that a readiness request during the start gets the reply that the server is not
     * ready.
     */
    private static @Nullable MetricsServer startMetrics(ServerState server, Health health) throws IOException {
        int port = server.config().intNumber("metrics-port");
        return port == 0
                ? null
                : MetricsServer.start(new Metrics(server.telemetry(), health), health,
                        server.config().text("metrics-bind"), port);
    }

    /** The listening port: the configured one, or the one chosen for {@code port 0}; 0 if only TLS is served. */
    public int port() {
        return network.port();
    }

    /** The listening port for TLS; 0 if there is none. */
    public int tlsPort() {
        return network.tlsPort();
    }

    /** The member of a cluster that this server is; null if it is none. */
    public @Nullable ClusterState cluster() {
        return server.cluster();
    }

    /** Waits until a client has sent SHUTDOWN. */
    public void awaitShutdown() throws InterruptedException {
        shutdown.await();
    }

    /** Bytes of direct memory that the pools of connection buffers hold, used or not. */
    public long pooledBytes() {
        return network.pooledBytes();
    }

    /** Whether {@link #close} is saving a snapshot, which may take long. */
    public boolean isSaving() {
        return saving;
    }

    /**
     * Ends scripts in the middle. Others must not see what they have done: before they end, the log and the replicas
     * get their last change, and from here on no snapshot is saved.
     */
    private void endScripts() {
        if (!server.scripting().running().haveEnded()) {
            LOG.warn("The server does not wait for the script that runs: it ends without effect");
            server.changes().seal();
            server.snapshots().abandon();
            server.logLifecycle().close();
            server.scripting().running().endAll();
        }
    }

    private void closePersistence() {
        try {
            // A task of the saving thread may still need the log.
            server.snapshots().close();
        } finally {
            server.logLifecycle().close();
        }
    }

    /** Stops listening, closes the connections, saves if the settings say so, and releases the memory. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            health.stopping();
            saving = true;
            if (link != null) {
                if (server.scripting().running().slow() != null) {
                    // Neither the handover nor the end of the lease could wait for it.
                    endScripts();
                }
                link.handOver();
                link.endLease();
            }
            if (migrations != null) {
                // They may be asking the controllers.
                migrations.close();
            }
            if (link != null) {
                link.close();
            }
            try {
                network.close(this::endScripts);
            } finally {
                server.role().close();
                closePersistence();
                saving = false;
            }
            maintenance.close();
            if (metrics != null) {
                metrics.close();
            }
            server.close();
            tiers.close();
        }
    }
}
