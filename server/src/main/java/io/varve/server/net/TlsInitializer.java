package io.varve.server.net;

import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import io.varve.server.command.ConfigListener;
import io.varve.server.config.ServerConfig;
import io.varve.server.tls.TlsContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sets up encryption for connections of {@code tls-port}. Many threads: the context is volatile, so that changed
 * certificates serve new connections.
 */
final class TlsInitializer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TlsInitializer.class);

    /** A client that has not completed its handshake by then is disconnected. */
    private static final int HANDSHAKE_MILLIS = 10_000;
    private static final int HANDSHAKE_THREADS = 2;

    /** A signature takes a millisecond, in which an event loop serves a thousand requests. */
    private final ExecutorService handshakes = Executors.newFixedThreadPool(HANDSHAKE_THREADS,
            Thread.ofPlatform().daemon().name("varve-tls-", 0).factory());
    private final TlsHeapBudget budget;
    private volatile TlsContext context;

    /**
     * @param budget heap budget of the connections
     * @throws io.varve.server.config.ConfigException if the settings are invalid
     */
    TlsInitializer(ServerConfig config, TlsHeapBudget budget) {
        context = TlsContext.of(config);
        this.budget = budget;
        if (budget.maxConnections() < config.number("maxclients")) {
            LOG.warn(
                    "tls-port {}: at most {} encrypted connections at a time (maxclients {}), because each needs"
                            + " {} KB of "
                            + "the heap of {} MB: a larger heap (-Xmx, with the launcher VARVE_JAVA_OPTS=-Xmx...)"
                            + " allows more",
                    config.text("tls-port"), budget.maxConnections(), config.text("maxclients"),
                    TlsHeapBudget.BYTES >> 10,
                    Runtime.getRuntime().maxMemory() >> 20);
        }
    }

    /** Rereads the certificates if a setting of TLS is named, changed or not. */
    ConfigListener.Change prepare(ServerConfig changed, Set<String> named) {
        if (named.stream().noneMatch(name -> name.startsWith("tls-"))) {
            return ConfigListener.Change.NONE;
        }
        TlsContext fresh = TlsContext.of(changed);
        return () -> context = fresh;
    }

    /** Adds the encryption. @return the handler that throttles replies; null if the heap budget is exhausted */
    @Nullable
    TlsWriteThrottle addTo(Channel channel) {
        TlsHeapReservation reservation = budget.reserve(channel, handshakes);
        if (reservation == null) {
            return null;
        }
        SslHandler encryption = new SslHandler(context.newEngine(), reservation);
        encryption.setHandshakeTimeout(HANDSHAKE_MILLIS, TimeUnit.MILLISECONDS);
        TlsWriteThrottle writeThrottle = new TlsWriteThrottle();
        channel.pipeline().addLast(encryption, writeThrottle);
        return writeThrottle;
    }

    @Override
    public void close() {
        handshakes.shutdownNow();
    }
}
