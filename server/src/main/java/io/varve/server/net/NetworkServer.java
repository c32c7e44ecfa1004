package io.varve.server.net;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.ServerChannelRecvByteBufAllocator;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ConfigListener;
import io.varve.server.command.ServerContext;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import io.varve.server.system.TimeSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens, and runs the event loops. One thread starts and closes it; where it listens is guarded by itself, as CONFIG
 * SET may change that; its event loops own the connections.
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
    /** Accepts connections. An event loop that opens or closes a socket by CONFIG SET waits for this one alone. */
    private final EventLoopGroup acceptor;
    private final ChannelGroup listening = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Transport transport;
    private final ConnectionBuffers allocator;
    private final Workers workers;
    private final TlsLoans loans;
    private final TcpListeners plainListeners;
    private @Nullable TlsDoor tls;
    private @Nullable TcpListeners tlsListeners;
    private @Nullable UnixListener unixListener;
    private boolean hasOtherThanPlain;

    private NetworkServer(ServerContext server, CommandTable table, Transport transport, EventLoopGroup loops,
            TlsLoans loans) {
        this.server = server;
        acceptor = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("varve-accept", true),
                transport.ioHandlers());
        this.loans = loans;
        this.transport = transport;
        this.loops = loops;
        allocator = new ConnectionBuffers(ByteBufAllocator.DEFAULT, server.cache(), server.argumentMemory());
        workers = new Workers(server, table, allocator);
        plainListeners = new TcpListeners(tcpBootstrap(server.config(), null), listening);
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

    private synchronized void listen() throws IOException {
        ServerConfig config = server.config();
        // Before the first client can change a setting; it waits until all sockets are there.
        server.onConfig(this::prepare);
        String bind = config.text("bind");
        int tlsWanted = config.intNumber("tls-port");
        Path socket = config.unixSocket();
        if (tlsWanted != 0) {
            TlsDoor door = new TlsDoor(config, loans);
            tls = door;
            server.onConfig(door::prepare);
            tlsListeners = new TcpListeners(tcpBootstrap(config, door), listening);
        }
        hasOtherThanPlain = tlsWanted != 0 || socket != null;
        // As in Redis, port 0 beside a tls-port or a unixsocket is none; alone it is a free one.
        if (config.intNumber("port") != 0 || !hasOtherThanPlain) {
            plainListeners.listen(bind, config.intNumber("port"));
        }
        if (tlsListeners != null) {
            tlsListeners.listen(bind, tlsWanted);
        }
        if (socket != null) {
            ServerBootstrap bootstrap = bootstrap(config, transport.serverDomainChannel(), null);
            unixListener = UnixListener.open(bootstrap, transport, config, socket);
            listening.add(unixListener.channel());
        }
        tellWhere(config);
    }

    /** Listens elsewhere if {@code bind} or {@code port} are changed: new sockets are there before old ones go. */
    private synchronized ConfigListener.Change prepare(ServerConfig changed, Set<String> named) {
        ServerConfig now = server.config();
        String bind = changed.text("bind");
        boolean moves = !bind.equals(now.text("bind"));
        boolean hasOtherPort = changed.number("port") != now.number("port");
        if (!moves && !hasOtherPort) {
            return ConfigListener.Change.NONE;
        }
        List<ConfigListener.Change> changes = new ArrayList<>();
        try {
            changes.add(preparePlain(bind, hasOtherPort ? changed.intNumber("port") : plainListeners.port(),
                    hasOtherPort));
            if (moves && tlsListeners != null) {
                changes.add(tlsListeners.prepare(bind, tlsListeners.port()));
            }
        } catch (IOException failed) {
            changes.forEach(ConfigListener.Change::undo);
            LOG.warn("CONFIG SET: what was listened on is listened on still: {}", failed.getMessage());
            throw hasOtherPort
                    ? ConfigException.about("port", "Unable to listen on this port. Check server logs.")
                    : ConfigException.about("bind", "Failed to bind to specified addresses.");
        }
        return new ConfigListener.Change() {
            @Override
            public void apply() {
                changes.forEach(ConfigListener.Change::apply);
                tellWhere(changed);
            }

            @Override
            public void undo() {
                changes.forEach(ConfigListener.Change::undo);
            }
        };
    }

    private ConfigListener.Change preparePlain(String bind, int wanted, boolean asked) throws IOException {
        if (wanted != 0) {
            return plainListeners.prepare(bind, wanted);
        }
        if (asked && !hasOtherThanPlain) {
            throw ConfigException.about("port",
                    "argument must be between 1 and 65535 inclusive, as clients have no other way to connect");
        }
        return plainListeners.prepareNone();
    }

    /** For INFO. */
    private void tellWhere(ServerConfig config) {
        int port = plainListeners.port();
        server.port(port != 0 || tlsListeners == null ? port : tlsListeners.port());
        StringBuilder addresses = new StringBuilder();
        for (String address : config.text("bind").split(" ")) {
            addresses.append(",bind=").append(address);
        }
        boolean hasAddress = !config.text("bind").isEmpty();
        List<String> where = new ArrayList<>();
        if (port != 0 && hasAddress) {
            where.add("name=tcp" + addresses + ",port=" + port);
        }
        if (unixListener != null) {
            where.add("name=unix,bind=" + config.unixSocket());
        }
        if (tlsListeners != null && hasAddress) {
            where.add("name=tls" + addresses + ",port=" + tlsListeners.port());
        }
        server.listeners(where);
    }

    /** @param door what encrypts connections; null if they are plain */
    private ServerBootstrap tcpBootstrap(ServerConfig config, @Nullable TlsDoor door) {
        return bootstrap(config, transport.serverChannel(), door).option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true);
    }

    private ServerBootstrap bootstrap(ServerConfig config, Class<? extends ServerChannel> kind,
            @Nullable TlsDoor door) {
        return new ServerBootstrap().group(acceptor, loops).channel(kind)
                .option(ChannelOption.SO_BACKLOG, config.intNumber("tcp-backlog"))
                .option(ChannelOption.RECVBUF_ALLOCATOR, new ServerChannelRecvByteBufAllocator()
                        .respectMaybeMoreData(false).maxMessagesPerRead(LET_IN_AT_A_TIME))
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATERMARK)
                .childHandler(new ConnectionInitializer(server, workers, transport, allocator,
                        new CacheRuns(server.cache()), connections, door));
    }

    /** The channels that clients connect to. */
    ChannelGroup listening() {
        return listening;
    }

    /** The port that is listened on; 0 if there is none for plain connections. */
    public int port() {
        return plainListeners.port();
    }

    /** The port that is listened on for TLS; 0 if there is none. */
    public int tlsPort() {
        return tlsListeners == null ? 0 : tlsListeners.port();
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
        if (unixListener != null) {
            unixListener.close();
        }
        listening.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        connections.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        acceptor.shutdownGracefully(0, DRAIN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(DRAIN_SECONDS,
                TimeUnit.SECONDS);
        boolean ended = loops.shutdownGracefully(0, DRAIN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(DRAIN_SECONDS,
                TimeUnit.SECONDS);
        if (tls != null) {
            tls.close();
        }
        if (ended) {
            workers.close();
        }
    }
}
