package io.varve.server;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.flash.tier.FlashTier;
import io.varve.memory.Cache;
import io.varve.server.admin.Health;
import io.varve.server.admin.LogLevel;
import io.varve.server.admin.Metrics;
import io.varve.server.admin.http.MetricsServer;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerContext;
import io.varve.server.command.registry.Families;
import io.varve.server.config.InertSettings;
import io.varve.server.config.ServerConfig;
import io.varve.server.config.Settings;
import io.varve.server.net.NetworkServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running server: the tiers, the maintenance thread, the network and, if wanted, metrics. Immutable once started; {@link #close} may
 * be called by any thread, once or more.
 */
public final class VarveServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(VarveServer.class);

    private final Tiers tiers;
    private final NetworkServer network;
    private final Maintenance maintenance;
    private final @Nullable MetricsServer metrics;
    private final Health health;
    private final CountDownLatch shutdown;
    private final AtomicBoolean closed = new AtomicBoolean();

    private VarveServer(Tiers tiers, NetworkServer network, Maintenance maintenance, @Nullable MetricsServer metrics,
            Health health, CountDownLatch shutdown) {
        this.tiers = tiers;
        this.network = network;
        this.maintenance = maintenance;
        this.metrics = metrics;
        this.health = health;
        this.shutdown = shutdown;
    }

    /**
     * Opens a cache and serves it.
     *
     * @throws IOException                              if it cannot listen
     * @throws io.varve.server.config.ConfigException if a file that the configuration names is not as it has to be
     */
    public static VarveServer start(ServerConfig config) throws IOException {
        return start(config, Tiers.open(config));
    }

    static VarveServer start(ServerConfig config, Cache cache) throws IOException {
        return start(config, new Tiers(cache, null));
    }

    static VarveServer start(ServerConfig config, Tiers tiers) throws IOException {
        Cache cache = tiers.cache();
        CountDownLatch shutdown = new CountDownLatch(1);
        Health health = new Health();
        if (!config.text("loglevel").equals(ServerConfig.defaults().text("loglevel"))) {
            // A program that embeds the server and says nothing keeps its own level.
            LogLevel.apply(config.text("loglevel"));
        }
        MetricsServer metrics = null;
        try {
            ServerContext server = new ServerContext(cache, tiers.flash(), config, cache.config().ticker(), _ -> {
                health.stopping();
                shutdown.countDown();
            });
            warnOfInert(server);
            warnOfClients(server);
            CommandTable table = Families.table(server);
            metrics = startMetrics(server, health);
            NetworkServer network = NetworkServer.start(server, table);
            health.listening();
            return new VarveServer(tiers, network, Maintenance.start(cache, network, server), metrics, health,
                    shutdown);
        } catch (IOException | RuntimeException failed) {
            if (metrics != null) {
                metrics.close();
            }
            tiers.close();
            throw failed;
        }
    }

    /** Now, and whenever some are changed. */
    private static void warnOfInert(ServerContext server) {
        InertSettings inert = new InertSettings();
        inert.warn(server.config(), Settings.all().keySet());
        inert.warnOfDemand(server.config());
        inert.warnOfMemory(server.config());
        server.onConfig((changed, named) -> () -> {
            inert.warn(changed, named);
            inert.warnOfDemand(changed);
            inert.warnOfMemory(changed);
        });
    }

    /** As Redis does where the system allows fewer connections. */
    private static void warnOfClients(ServerContext server) {
        long wanted = server.config().number("maxclients");
        if (server.mostClients() < wanted) {
            LOG.warn(
                    "maxclients {}: the heap of {} MB has room for {}; a larger one (a larger container, or with the launcher "
                            + "VARVE_JAVA_OPTS=-Xmx...) lets more in",
                    wanted, Runtime.getRuntime().maxMemory() >> 20,
                    server.mostClients());
        }
    }

    /** In front of the network, so that whoever asks whether the server is ready is told that it is not. */
    private static @Nullable MetricsServer startMetrics(ServerContext server, Health health) throws IOException {
        FlashTier flash = server.flash();
        if (flash == null) {
            health.loaded();
        } else {
            flash.whenComplete(health::loaded);
        }
        int port = server.config().intNumber("metrics-port");
        return port == 0
                ? null
                : MetricsServer.start(new Metrics(server, health), health, server.config().text("metrics-bind"), port);
    }

    /** The port that is listened on: the configured one, or the one found for {@code port 0}; 0 if only TLS is spoken. */
    public int port() {
        return network.port();
    }

    /** The port that is listened on for TLS; 0 if there is none. */
    public int tlsPort() {
        return network.tlsPort();
    }

    /** Waits until a client has sent SHUTDOWN. */
    public void awaitShutdown() throws InterruptedException {
        shutdown.await();
    }

    /** Stops listening, closes the connections, stops maintenance and gives the memory back. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            health.stopping();
            network.close();
            maintenance.close();
            if (metrics != null) {
                metrics.close();
            }
            tiers.close();
        }
    }
}
