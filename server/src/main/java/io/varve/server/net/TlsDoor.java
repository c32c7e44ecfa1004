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
 * Makes connections of {@code tls-port} encrypted ones. Many threads: the context is volatile, so that changed certificates
 * serve the connections that come after.
 */
final class TlsDoor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TlsDoor.class);

    /** Who has not shaken hands by then is disconnected. */
    private static final int HANDSHAKE_MILLIS = 10_000;
    private static final int HANDSHAKE_THREADS = 2;

    /** A signature takes a millisecond, in which an event loop serves a thousand requests. */
    private final ExecutorService handshakes = Executors.newFixedThreadPool(HANDSHAKE_THREADS,
            Thread.ofPlatform().daemon().name("varve-tls-", 0).factory());
    private final TlsLoans loans;
    private volatile TlsContext context;

    /**
     * @param loans what connections may have of the heap
     * @throws io.varve.server.config.ConfigException if the settings cannot be
     */
    TlsDoor(ServerConfig config, TlsLoans loans) {
        context = TlsContext.of(config);
        this.loans = loans;
        if (loans.most() < config.number("maxclients")) {
            LOG.warn(
                    "tls-port {}: no more than {} encrypted connections at a time (maxclients {}), as each takes {} KB of "
                            + "the heap, which has {} MB: a larger one (-Xmx, with the launcher VARVE_JAVA_OPTS=-Xmx...) lets more in",
                    config.text("tls-port"), loans.most(), config.text("maxclients"), TlsLoans.BYTES >> 10,
                    Runtime.getRuntime().maxMemory() >> 20);
        }
    }

    /** Reads the certificates again where a setting of TLS is named, be it changed or not. */
    ConfigListener.Change prepare(ServerConfig changed, Set<String> named) {
        if (named.stream().noneMatch(name -> name.startsWith("tls-"))) {
            return ConfigListener.Change.NONE;
        }
        TlsContext fresh = TlsContext.of(changed);
        return () -> context = fresh;
    }

    /** Adds what encrypts and decrypts. @return what holds replies back; null if the heap has no room for another connection */
    @Nullable
    TlsOutlet addTo(Channel channel) {
        TlsLoan loan = loans.take(channel, handshakes);
        if (loan == null) {
            return null;
        }
        SslHandler encryption = new SslHandler(context.newEngine(), loan);
        encryption.setHandshakeTimeout(HANDSHAKE_MILLIS, TimeUnit.MILLISECONDS);
        TlsOutlet outlet = new TlsOutlet();
        channel.pipeline().addLast(encryption, outlet);
        return outlet;
    }

    @Override
    public void close() {
        handshakes.shutdownNow();
    }
}
