package io.varve.server.net;

import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandler;
import io.varve.server.config.ServerConfig;
import io.varve.server.tls.TlsContext;

/**
 * Makes connections of {@code tls-port} encrypted ones. Many threads: the context is volatile, so that changed certificates
 * serve the connections that come after.
 */
final class TlsDoor implements AutoCloseable {
    /** Who has not shaken hands by then is disconnected. */
    private static final int HANDSHAKE_MILLIS = 10_000;
    private static final int HANDSHAKE_THREADS = 2;

    /** A signature takes a millisecond, in which an event loop serves a thousand requests. */
    private final ExecutorService handshakes = Executors.newFixedThreadPool(HANDSHAKE_THREADS,
            Thread.ofPlatform().daemon().name("varve-tls-", 0).factory());
    private volatile TlsContext context;

    /** @throws io.varve.server.config.ConfigException if the settings cannot be */
    TlsDoor(ServerConfig config) {
        context = TlsContext.of(config);
    }

    /** Reads the certificates again where a setting of TLS is named, be it changed or not. */
    Runnable prepare(ServerConfig changed, Set<String> named) {
        if (named.stream().noneMatch(name -> name.startsWith("tls-"))) {
            return () -> {};
        }
        TlsContext fresh = TlsContext.of(changed);
        return () -> context = fresh;
    }

    /** Adds what encrypts and decrypts. @return what holds replies back */
    TlsOutlet addTo(ChannelPipeline pipeline) {
        SslHandler encryption = new SslHandler(context.newEngine(), handshakes);
        encryption.setHandshakeTimeout(HANDSHAKE_MILLIS, TimeUnit.MILLISECONDS);
        TlsOutlet outlet = new TlsOutlet();
        pipeline.addLast(encryption, outlet);
        return outlet;
    }

    @Override
    public void close() {
        handshakes.shutdownNow();
    }
}
