package io.varve.server;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.Cache;
import io.varve.server.admin.LogLevel;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Families;
import io.varve.server.command.ServerContext;
import io.varve.server.config.ServerConfig;
import io.varve.server.net.NetworkServer;

/**
 * A running server: the tiers, the maintenance thread and the network. Immutable once started; {@link #close} may
 * be called by any thread, once or more.
 */
public final class VarveServer implements AutoCloseable {
    private final Tiers tiers;
    private final NetworkServer network;
    private final Maintenance maintenance;
    private final CountDownLatch shutdown;
    private final AtomicBoolean closed = new AtomicBoolean();

    private VarveServer(Tiers tiers, NetworkServer network, Maintenance maintenance, CountDownLatch shutdown) {
        this.tiers = tiers;
        this.network = network;
        this.maintenance = maintenance;
        this.shutdown = shutdown;
    }

    /**
     * Opens a cache and serves it.
     *
     * @throws IOException if it cannot listen
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
        if (!config.text("loglevel").equals(ServerConfig.defaults().text("loglevel"))) {
            // A program that embeds the server and says nothing keeps its own level.
            LogLevel.apply(config.text("loglevel"));
        }
        try {
            ServerContext server = new ServerContext(cache, tiers.flash(), config, cache.config().ticker(),
                    _ -> shutdown.countDown());
            CommandTable table = Families.table(server);
            NetworkServer network = NetworkServer.start(server, table);
            return new VarveServer(tiers, network, Maintenance.start(cache, network, server), shutdown);
        } catch (IOException | RuntimeException failed) {
            tiers.close();
            throw failed;
        }
    }

    /** The port that is listened on: the configured one, or the one found for {@code port 0}. */
    public int port() {
        return network.port();
    }

    /** Waits until a client has sent SHUTDOWN. */
    public void awaitShutdown() throws InterruptedException {
        shutdown.await();
    }

    /** Stops listening, closes the connections, stops maintenance and gives the memory back. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            network.close();
            maintenance.close();
            tiers.close();
        }
    }
}
