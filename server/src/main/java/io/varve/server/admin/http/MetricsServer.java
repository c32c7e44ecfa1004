package io.varve.server.admin.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.varve.server.admin.metrics.Health;
import io.varve.server.admin.metrics.Metrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The HTTP endpoint: {@code /metrics}, {@code /health/live}, {@code /health/ready}. Confined to the thread that starts
 * and closes it; its one event loop executes no commands and owns the connections and the metrics.
 */
public final class MetricsServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MetricsServer.class);

    /** Maximum number of concurrent connections: a scraper needs one for a moment. */
    static final int MAX_CONNECTIONS = 16;
    private static final int BACKLOG = 64;
    private static final int CLOSE_SECONDS = 2;

    private final Metrics metrics;
    private final EventLoopGroup loop;
    private final Channel listening;
    private final ChannelGroup connections;

    private MetricsServer(Metrics metrics, EventLoopGroup loop, Channel listening, ChannelGroup connections) {
        this.metrics = metrics;
        this.loop = loop;
        this.listening = listening;
        this.connections = connections;
    }

    /**
     * Starts to listen.
     *
     * @param metrics closed with the server, and if it cannot listen
     * @param bind an address; empty or {@code *}: all of the machine's
     * @param port 0: any free port
     * @throws IOException if it cannot listen there
     */
    public static MetricsServer start(Metrics metrics, Health health, String bind, int port) throws IOException {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("varve-metrics", true),
                NioIoHandler.newFactory());
        ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
        ServerBootstrap bootstrap = new ServerBootstrap().group(loop).channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, BACKLOG).option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true).childHandler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        connect(channel, connections, metrics, health);
                    }
                });
        InetSocketAddress where = bind.isEmpty() || bind.equals("*")
                ? new InetSocketAddress(port)
                : new InetSocketAddress(bind, port);
        ChannelFuture bound = bootstrap.bind(where).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            end(loop, metrics);
            throw new IOException("Could not listen on " + bind + ":" + port + " for metrics: "
                    + (where.isUnresolved() ? "this name has no address" : bound.cause().getMessage()));
        }
        MetricsServer server = new MetricsServer(metrics, loop, bound.channel(), connections);
        LOG.info("Metrics at http://{}:{}/metrics", bind, server.port());
        return server;
    }

    // A connection over the limit is closed: no caller needs the future.
    @SuppressWarnings("FutureReturnValueIgnored")
    private static void connect(Channel channel, ChannelGroup connections, Metrics metrics, Health health) {
        if (connections.size() >= MAX_CONNECTIONS) {
            channel.close();
            return;
        }
        connections.add(channel);
        OneRequest.serve(channel.pipeline(), metrics, health);
    }

    /** The listening port. */
    public int port() {
        return ((InetSocketAddress) listening.localAddress()).getPort();
    }

    /** Stops listening and closes the connections. */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
        connections.close().awaitUninterruptibly(CLOSE_SECONDS, TimeUnit.SECONDS);
        end(loop, metrics);
    }

    /** The event loop owns the metrics: they are closed after its end. */
    private static void end(EventLoopGroup loop, Metrics metrics) {
        if (loop.shutdownGracefully(0, CLOSE_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(2 * CLOSE_SECONDS,
                TimeUnit.SECONDS)) {
            metrics.close();
        } else {
            LOG.warn("The thread of the metrics server has not ended within {} s", 2 * CLOSE_SECONDS);
        }
    }
}
