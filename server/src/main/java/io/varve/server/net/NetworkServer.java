package io.varve.server.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.FastThreadLocal;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
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
    /**
     * Who waits to be let in is, so many at a time: a millisecond or two between others' requests. (Netty's epoll channel takes one, whatever it is
     * set to, unless it is told to ask on: it takes the number of the new socket for a count of bytes that were less than asked for.)
     */
    static final int LET_IN_AT_A_TIME = 100;
    private static final int DRAIN_SECONDS = 5;

    private final ServerContext server;
    private final EventLoopGroup loops;
    private final ChannelGroup listening = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Transport transport;
    private final ConnectionBuffers allocator;
    private final Workers workers;
    private final TlsLoans loans;
    private @Nullable TlsDoor tls;
    private int port;
    private int tlsPort;

    private NetworkServer(ServerContext server, CommandTable table, Transport transport, EventLoopGroup loops,
            TlsLoans loans) {
        this.server = server;
        this.loans = loans;
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
        return startWith(server, table, TlsLoans.of(server.argumentMemory()));
    }

    /** @param loans what encrypted connections may have of the heap */
    static NetworkServer startWith(ServerContext server, CommandTable table, TlsLoans loans) throws IOException {
        ServerConfig config = server.config();
        Transport.Choice choice = Transport.choose(config.text("transport"));
        int threads = config.intNumber("io-threads");
        LOG.info("Transport {}: {}; {} event loops", choice.transport().settingName(), choice.reason(), threads);
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(threads,
                new LoopThreads(new TimeSlice(config.number("io-thread-slice-us"))), choice.transport().ioHandlers());
        server.transport(choice.transport().settingName());
        NetworkServer network = new NetworkServer(server, table, choice.transport(), loops, loans);
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
        int tlsWanted = config.intNumber("tls-port");
        TlsDoor door = tlsWanted == 0 ? null : new TlsDoor(config, loans);
        tls = door;
        port = config.intNumber("port");
        // As in Redis, port 0 beside a tls-port is none; alone it is a free one.
        if (port != 0 || tlsWanted == 0) {
            port = listen(bootstrap(config, null), port);
        }
        if (door != null) {
            server.onConfig(door::prepare);
            tlsPort = listen(bootstrap(config, door), tlsWanted);
        }
        server.port(port != 0 ? port : tlsPort);
    }

    /** @return the port, which is a free one if 0 is wanted */
    private int listen(ServerBootstrap bootstrap, int wanted) throws IOException {
        int bound = wanted;
        boolean listens = false;
        List<String> failures = new ArrayList<>();
        for (String address : server.config().text("bind").trim().split("\\s+")) {
            boolean optional = address.startsWith("-");
            String host = optional ? address.substring(1) : address;
            ChannelFuture attempt = bootstrap.bind(address(host, bound)).awaitUninterruptibly();
            if (attempt.isSuccess()) {
                listening.add(attempt.channel());
                listens = true;
                bound = ((InetSocketAddress) attempt.channel().localAddress()).getPort();
            } else if (!optional) {
                failures.add(host + ":" + bound + ": " + attempt.cause().getMessage());
            }
        }
        if (!failures.isEmpty() || !listens) {
            throw new IOException("Could not listen on " + (failures.isEmpty()
                    ? "any of " + server.config().text("bind") + ", port " + bound
                    : String.join(", ", failures)));
        }
        return bound;
    }

    private static InetSocketAddress address(String host, int port) {
        return switch (host) {
            case "", "*" -> new InetSocketAddress(port);
            case "::*" -> new InetSocketAddress("::", port);
            default -> new InetSocketAddress(host, port);
        };
    }

    /** @param door what encrypts connections; null if they are plain */
    private ServerBootstrap bootstrap(ServerConfig config, @Nullable TlsDoor door) {
        return new ServerBootstrap().group(loops).channel(transport.serverChannel())
                .option(ChannelOption.SO_BACKLOG, config.intNumber("tcp-backlog"))
                .option(ChannelOption.SO_REUSEADDR, true)
                .option(ChannelOption.RECVBUF_ALLOCATOR, new ServerChannelRecvByteBufAllocator()
                        .respectMaybeMoreData(false).maxMessagesPerRead(LET_IN_AT_A_TIME))
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATERMARK)
                .childHandler(new ConnectionInitializer(server, workers, transport, allocator,
                        new CacheRuns(server.cache()), connections, door));
    }

    /** The channels that clients connect to. */
    ChannelGroup listening() {
        return listening;
    }

    /** The port that is listened on; 0 if only TLS is spoken. */
    public int port() {
        return port;
    }

    /** The port that is listened on for TLS; 0 if there is none. */
    public int tlsPort() {
        return tlsPort;
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
        if (tls != null) {
            tls.close();
        }
        if (ended) {
            workers.close();
        }
    }

    /** Large bulks go into runs of the cache. Thread-safe as the cache is; each event loop has its own {@link Pinning}. */
    private static final class CacheRuns implements LargeBulks {
        private final Cache cache;
        private final FastThreadLocal<Pinning> pinnings = new FastThreadLocal<>() {
            @Override
            protected Pinning initialValue() {
                return new Pinning(cache.newSession());
            }
        };

        CacheRuns(Cache cache) {
            this.cache = cache;
        }

        @Override
        public int thresholdBytes() {
            return cache.runThresholdBytes();
        }

        @Override
        public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
            Pinning pinning = pinnings.get();
            int headRoom = pinning.session.headRoom(longestArgument);
            pinning.pin(earlier);
            try {
                ValueRun run = cache.newRun(headRoom, length);
                if (run == null && cache.admit((long) headRoom + length)) {
                    run = cache.newRun(headRoom, length);
                }
                return run;
            } finally {
                pinning.session.unpin();
            }
        }
    }

    /**
     * Pins what may be a key of a request while room is made for a large argument of it: the first arguments behind the name, and the one in
     * front of the large one. Confined to its event loop.
     */
    private static final class Pinning {
        private static final int FIRST = 64;

        private final CacheSession session;
        private final Key[] keys = new Key[FIRST + 1];
        private int count;

        Pinning(CacheSession session) {
            this.session = session;
            Arrays.setAll(keys, i -> new Key());
        }

        private void pin(LargeBulks.Earlier earlier) {
            count = 0;
            int last = earlier.count() - 1;
            for (int i = 1; i <= Math.min(FIRST, last); i++) {
                add(earlier, i);
            }
            if (last > FIRST) {
                add(earlier, last);
            }
            session.pin(keys, 0, count);
        }

        private void add(LargeBulks.Earlier earlier, int argument) {
            // The hash, which is all that a pin needs, is the same in every database.
            session.bind(keys[count++], 0, earlier.address(argument), earlier.length(argument));
        }
    }
}
