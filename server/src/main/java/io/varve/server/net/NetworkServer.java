package io.varve.server.net;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.AdaptiveByteBufAllocator;
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
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.varve.server.command.CommandTable;
import io.varve.server.command.ConfigListener;
import io.varve.server.command.ServerState;
import io.varve.server.config.ConfigException;
import io.varve.server.config.ServerConfig;
import io.varve.server.net.busy.ScriptedEventLoops;
import io.varve.server.net.busy.SlowScriptTurns;
import io.varve.server.script.RunningScripts;
import io.varve.server.system.TimeSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for connections, and runs the event loops. One thread starts and closes it. The listening addresses are
 * guarded by {@code this}, since CONFIG SET may change them; the event loops own the connections.
 */
public final class NetworkServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(NetworkServer.class);

    /** Pending output bytes at which a connection is not read, and those below which reading resumes. */
    private static final WriteBufferWaterMark WATERMARK = new WriteBufferWaterMark(32 << 10, 256 << 10);
    /**
     * Maximum number of connections accepted at a time: a millisecond or two between others' requests. By default
     * Netty's epoll channel accepts one, because it compares the new socket's number with a byte count.
     */
    static final int MAX_ACCEPTS_PER_READ = 100;
    private static final int DRAIN_SECONDS = 5;

    private final ServerState server;
    private final EventLoopGroup loops;
    /**
     * Accepts connections. An event loop that opens or closes a socket because of CONFIG SET waits for this one only.
     */
    private final EventLoopGroup acceptor;
    private final ChannelGroup listening = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Transport transport;
    private final ConnectionBuffers allocator;
    private final Workers workers;
    private final TlsHeapBudget tlsHeapBudget;
    private final TcpListeners plainListeners;
    private @Nullable TlsInitializer tls;
    private @Nullable TcpListeners tlsListeners;
    private @Nullable UnixListener unixListener;
    private boolean hasOtherThanPlain;

    private NetworkServer(ServerState server, CommandTable table, Transport transport, EventLoopGroup loops,
            TlsHeapBudget tlsHeapBudget) {
        this.server = server;
        acceptor = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("varve-accept", true),
                transport.ioHandlers());
        this.tlsHeapBudget = tlsHeapBudget;
        this.transport = transport;
        this.loops = loops;
        // Pools of its own: what an application around it keeps in Netty's shared pools does not count here.
        allocator = new ConnectionBuffers(new AdaptiveByteBufAllocator(true), server.cache(), server.argumentMemory());
        workers = new Workers(server, table, allocator, new SlowScriptTurns(connections));
        plainListeners = new TcpListeners(tcpBootstrap(server.config(), null), listening);
    }

    /**
     * Listens on the configured addresses.
     *
     * @throws IOException if an address cannot be bound
     */
    public static NetworkServer start(ServerState server, CommandTable table) throws IOException {
        return startWith(server, table, TlsHeapBudget.of(server.argumentMemory()));
    }

    /** @param tlsHeapBudget heap budget of encrypted connections */
    static NetworkServer startWith(ServerState server, CommandTable table, TlsHeapBudget tlsHeapBudget)
            throws IOException {
        ServerConfig config = server.config();
        Transport.Choice choice = Transport.choose(config.text("transport"));
        int threads = config.intNumber("io-threads");
        LOG.info("Transport {}: {}; {} event loops", choice.transport().settingName(), choice.reason(), threads);
        EventLoopGroup loops = new ScriptedEventLoops(threads,
                new EventLoopThreadFactory(new TimeSlice(config.number("io-thread-slice-us"))),
                choice.transport().ioHandlers());
        server.telemetry().transport(choice.transport().settingName());
        NetworkServer network = new NetworkServer(server, table, choice.transport(), loops, tlsHeapBudget);
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
        // Registered before the first client can change a setting; it waits until all sockets are open.
        server.onConfig(this::prepare);
        String bind = config.text("bind");
        int tlsPort = config.intNumber("tls-port");
        Path socket = config.unixSocket();
        if (tlsPort != 0) {
            TlsInitializer tlsInitializer = new TlsInitializer(config, tlsHeapBudget);
            tls = tlsInitializer;
            server.onConfig(tlsInitializer::prepare);
            tlsListeners = new TcpListeners(tcpBootstrap(config, tlsInitializer), listening);
        }
        hasOtherThanPlain = tlsPort != 0 || socket != null;
        // As in Redis, port 0 beside a tls-port or a unixsocket means none; alone it means any free port.
        if (config.intNumber("port") != 0 || !hasOtherThanPlain) {
            plainListeners.listen(bind, config.intNumber("port"));
        }
        if (tlsListeners != null) {
            tlsListeners.listen(bind, tlsPort);
        }
        if (socket != null) {
            ServerBootstrap bootstrap = bootstrap(config, transport.serverDomainChannel(), null);
            unixListener = UnixListener.open(bootstrap, transport, config, socket);
            listening.add(unixListener.channel());
        }
        publishListeners(config);
    }

    /** Listens elsewhere if {@code bind} or {@code port} change: new sockets open before old ones close. */
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
            LOG.warn("CONFIG SET: the listening addresses do not change: {}", failed.getMessage());
            throw hasOtherPort
                    ? ConfigException.about("port", "Unable to listen on this port. Check server logs.")
                    : ConfigException.about("bind", "Failed to bind to specified addresses.");
        }
        return new ConfigListener.Change() {
            @Override
            public void apply() {
                changes.forEach(ConfigListener.Change::apply);
                publishListeners(changed);
            }

            @Override
            public void undo() {
                changes.forEach(ConfigListener.Change::undo);
            }
        };
    }

    private ConfigListener.Change preparePlain(String bind, int wanted, boolean requested) throws IOException {
        if (wanted != 0) {
            return plainListeners.prepare(bind, wanted);
        }
        if (requested && !hasOtherThanPlain) {
            throw ConfigException.about("port",
                    "argument must be between 1 and 65535 inclusive, because no other listener is enabled");
        }
        return plainListeners.prepareNone();
    }

    /** Updates the addresses for INFO. */
    private void publishListeners(ServerConfig config) {
        int port = plainListeners.port();
        server.telemetry().port(port != 0 || tlsListeners == null ? port : tlsListeners.port());
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
        server.telemetry().listeners(where);
    }

    /** @param tlsInitializer encrypts the connections; null if they are plain */
    private ServerBootstrap tcpBootstrap(ServerConfig config, @Nullable TlsInitializer tlsInitializer) {
        return bootstrap(config, transport.serverChannel(), tlsInitializer).option(ChannelOption.SO_REUSEADDR, true)
                .childOption(ChannelOption.TCP_NODELAY, true);
    }

    private ServerBootstrap bootstrap(ServerConfig config, Class<? extends ServerChannel> kind,
            @Nullable TlsInitializer tlsInitializer) {
        return new ServerBootstrap().group(acceptor, loops).channel(kind)
                .option(ChannelOption.SO_BACKLOG, config.intNumber("tcp-backlog"))
                .option(ChannelOption.RECVBUF_ALLOCATOR, new ServerChannelRecvByteBufAllocator()
                        .respectMaybeMoreData(false).maxMessagesPerRead(MAX_ACCEPTS_PER_READ))
                .childOption(ChannelOption.ALLOCATOR, allocator)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATERMARK)
                .childHandler(new ConnectionInitializer(server, workers, transport, allocator,
                        new CacheRuns(server.cache()), connections, tlsInitializer));
    }

    /** The channels that clients connect to. */
    ChannelGroup listening() {
        return listening;
    }

    /** The listening port; 0 if there is none for plain connections. */
    public int port() {
        return plainListeners.port();
    }

    /** The listening port for TLS; 0 if there is none. */
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

    /** Bytes of direct memory that the pools of connection buffers hold, used or not. */
    public long pooledBytes() {
        return allocator.bytesInPools();
    }

    /** Stops listening, flushes replies, closes all connections. */
    @Override
    public void close() {
        close(() -> {});
    }

    /**
     * As {@link #close()}.
     *
     * @param endScripts ends scripts that are not waited for, after the connections are closed
     */
    public void close(Runnable endScripts) {
        if (unixListener != null) {
            unixListener.close();
        }
        listening.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        connections.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        acceptor.shutdownGracefully(0, DRAIN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(DRAIN_SECONDS,
                TimeUnit.SECONDS);
        RunningScripts scripts = server.scripting().running();
        if (scripts.isEndedAtShutdown() && scripts.isAny()) {
            endScripts.run();
        }
        Future<?> end = loops.shutdownGracefully(0, DRAIN_SECONDS, TimeUnit.SECONDS);
        boolean ended = end.awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        if (!ended && scripts.isAny()) {
            endScripts.run();
            ended = end.awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        }
        if (tls != null) {
            tls.close();
        }
        if (ended) {
            workers.close();
        }
    }
}
