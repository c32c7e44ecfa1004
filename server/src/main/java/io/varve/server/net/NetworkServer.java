package io.varve.server.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.uring.IoUringChannelOption;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ServerContext;
import io.varve.server.config.ServerConfig;
import io.varve.server.resp.LargeBulks;
import io.varve.server.system.TimeSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens, and runs the event loops. Confined to the thread that starts and closes it; its event loops own the
 * connections.
 */
public final class NetworkServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NetworkServer.class);

    /** Bytes that wait to be written before a connection is no longer read, and below which it is again. */
    private static final WriteBufferWaterMark WATERMARK = new WriteBufferWaterMark(32 << 10, 256 << 10);
    private static final int READ_BYTES = 64 << 10;
    private static final int DRAIN_SECONDS = 5;

    private final ServerContext server;
    private final EventLoopGroup loops;
    private final ChannelGroup listening = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Transport transport;
    private final ConnectionBuffers allocator;
    private final Workers workers;
    private int port;

    private NetworkServer(ServerContext server, CommandTable table, Transport transport, EventLoopGroup loops) {
        this.server = server;
        this.transport = transport;
        this.loops = loops;
        allocator = new ConnectionBuffers(ByteBufAllocator.DEFAULT, server.cache(), server.argumentMemory());
        workers = new Workers(server, table, allocator);
    }

    /**
     * Listens on the configured addresses.
     *
     * @throws IOException if an address cannot be bound
     */
    public static NetworkServer start(ServerContext server, CommandTable table) throws IOException {
        ServerConfig config = server.config();
        Transport.Choice choice = Transport.choose(config.text("transport"));
        int threads = config.intNumber("io-threads");
        LOG.info("Transport {}: {}; {} event loops", choice.transport().settingName(), choice.reason(), threads);
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(threads,
                new LoopThreads(new TimeSlice(config.number("io-thread-slice-us"))), choice.transport().ioHandlers());
        server.transport(choice.transport().settingName());
        NetworkServer network = new NetworkServer(server, table, choice.transport(), loops);
        try {
            network.listen();
        } catch (IOException | RuntimeException failed) {
            network.close();
            throw failed;
        }
        return network;
    }

    private void listen() throws IOException {
        ServerConfig config = server.config();
        ServerBootstrap bootstrap = bootstrap(config);
        port = config.intNumber("port");
        List<String> failures = new ArrayList<>();
        for (String address : config.text("bind").trim().split("\\s+")) {
            boolean optional = address.startsWith("-");
            String host = optional ? address.substring(1) : address;
            InetSocketAddress where = host.isEmpty() || host.equals("*")
                    ? new InetSocketAddress(port)
                    : new InetSocketAddress(host, port);
            var bound = bootstrap.bind(where).awaitUninterruptibly();
            if (bound.isSuccess()) {
                listening.add(bound.channel());
                port = ((InetSocketAddress) bound.channel().localAddress()).getPort();
            } else if (!optional) {
                failures.add(host + ":" + port + ": " + bound.cause().getMessage());
            }
        }
        if (!failures.isEmpty() || listening.isEmpty()) {
            throw new IOException("Could not listen on " + String.join(", ", failures));
        }
        server.port(port);
    }

    private ServerBootstrap bootstrap(ServerConfig config) {
        LargeBulks largeBulks = new CacheRuns(server.cache());
        int keepAliveSeconds = config.intNumber("tcp-keepalive");
        ServerBootstrap bootstrap = new ServerBootstrap().group(loops).channel(transport.serverChannel())
                .option(ChannelOption.SO_BACKLOG, config.intNumber("tcp-backlog"))
                .option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.SO_KEEPALIVE, keepAliveSeconds > 0)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATERMARK);
        RecvByteBufAllocator sizes = new AdaptiveRecvByteBufAllocator(512, 4096, READ_BYTES).maxMessagesPerRead(1);
        if (keepAliveSeconds > 0) {
            switch (transport) {
                case EPOLL -> bootstrap.childOption(EpollChannelOption.TCP_KEEPIDLE, keepAliveSeconds)
                        .childOption(EpollChannelOption.TCP_KEEPINTVL, Math.max(1, keepAliveSeconds / 3))
                        .childOption(EpollChannelOption.TCP_KEEPCNT, 3);
                case IO_URING -> bootstrap.childOption(IoUringChannelOption.TCP_KEEPIDLE, keepAliveSeconds);
                case NIO -> LOG.debug("The NIO transport leaves the keep-alive interval to the system");
            }
        }
        return bootstrap.childHandler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                connections.add(channel);
                // io_uring holds a buffer for each connection that waits for input: there is none to share.
                channel.config().setRecvByteBufAllocator(transport == Transport.IO_URING
                        ? sizes
                        : new ReusingReceive(sizes, workers.of(channel.eventLoop()).received()));
                channel.pipeline().addLast(new ConnectionHandler(server, workers, largeBulks, allocator, channel));
            }
        });
    }

    /** The port that is listened on. */
    public int port() {
        return port;
    }

    /** Applies time limits to all connections; called about once a second, by any thread. */
    public void checkConnections() {
        long now = server.ticker().wallMillis();
        for (Channel channel : connections) {
            ConnectionHandler handler = channel.pipeline().get(ConnectionHandler.class);
            if (handler != null) {
                channel.eventLoop().execute(() -> handler.check(now));
            }
        }
    }

    /** Stops listening, lets replies go out, closes all connections. */
    @Override
    public void close() {
        listening.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        connections.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        boolean ended = loops.shutdownGracefully(0, DRAIN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(DRAIN_SECONDS,
                TimeUnit.SECONDS);
        if (ended) {
            workers.close();
        }
    }

    /** Large bulks go into runs of the cache. Thread-safe as the cache is. */
    private static final class CacheRuns implements LargeBulks {
        private final Cache cache;
        private final CacheSession session;

        CacheRuns(Cache cache) {
            this.cache = cache;
            // Asked only for the size of an item's head, which depends on nothing but its argument.
            session = cache.newSession();
        }

        @Override
        public int thresholdBytes() {
            return cache.runThresholdBytes();
        }

        @Override
        public @Nullable ValueRun open(int longestArgument, int length) {
            int headRoom = session.headRoom(longestArgument);
            ValueRun run = cache.newRun(headRoom, length);
            if (run == null && cache.admit((long) headRoom + length)) {
                run = cache.newRun(headRoom, length);
            }
            return run;
        }
    }
}
