package io.varve.proxy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.varve.proxy.client.ClientConnection;
import io.varve.proxy.client.ProxyLoop;
import io.varve.proxy.client.ProxyState;
import io.varve.proxy.map.ControllersMapSource;
import io.varve.proxy.map.CopiesPoller;
import io.varve.proxy.map.MapSource;
import io.varve.proxy.map.MembersMapSource;
import io.varve.proxy.map.SlotTable;
import io.varve.proxy.map.StaticMapSource;
import io.varve.proxy.member.LoopMembers;
import io.varve.proxy.route.Router;
import io.varve.server.CommandCatalog;
import io.varve.server.net.TcpListeners;
import io.varve.server.net.Transport;
import io.varve.server.tls.TlsContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running proxy: its event loops, sockets and slot map. One thread starts and closes it; the event loops own the
 * connections.
 */
public final class ProxyServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ProxyServer.class);
    /** Pending output bytes at which a client's requests are not handled, and those below which they are again. */
    private static final WriteBufferWaterMark WATERMARK = new WriteBufferWaterMark(64 << 10, 256 << 10);
    private static final int CHECK_MILLIS = 100;
    private static final int DRAIN_SECONDS = 5;
    /** A signature takes a millisecond, in which an event loop forwards hundreds of requests. */
    private static final int HANDSHAKE_THREADS = 2;

    private final ProxyState state;
    private final MapSource source;
    /** Null if all reads go to the owners of their keys. */
    private final @Nullable CopiesPoller copies;
    private final EventLoopGroup acceptor;
    private final EventLoopGroup loops;
    private final ChannelGroup listening = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final ChannelGroup clients = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private final Map<EventLoop, ProxyLoop> byLoop = new HashMap<>();
    private final ExecutorService handshakes = Executors.newFixedThreadPool(HANDSHAKE_THREADS,
            Thread.ofPlatform().daemon().name("varve-proxy-tls-", 0).factory());
    private final TcpListeners listeners;
    private final TcpListeners tlsListeners;

    private ProxyServer(ProxySettings settings, MapSource source) {
        this.source = source;
        state = new ProxyState(settings.clients(), CommandCatalog.open());
        copies = settings.text(ProxySetting.HOT_KEY_COPIES).equals("yes")
                ? new CopiesPoller(settings.credentials(), settings.number(ProxySetting.MEMBER_CONNECT_TIMEOUT_MS),
                        state::copies)
                : null;
        Transport.Choice choice = Transport.choose(settings.text(ProxySetting.TRANSPORT));
        Transport transport = choice.transport();
        LOG.info("Transport {}: {}", transport.settingName(), choice.reason());
        acceptor = new MultiThreadIoEventLoopGroup(1, new DefaultThreadFactory("varve-proxy-accept", true),
                transport.ioHandlers());
        loops = new MultiThreadIoEventLoopGroup(settings.number(ProxySetting.IO_THREADS),
                new DefaultThreadFactory("varve-proxy-io", true), transport.ioHandlers());
        for (EventExecutor executor : loops) {
            EventLoop loop = (EventLoop) executor;
            LoopMembers members = new LoopMembers(loop, transport.clientChannel(), settings.memberSettings(),
                    state.healths());
            byLoop.put(loop, new ProxyLoop(state, new Router(loop, members, source, state.routeStatistics())));
        }
        listeners = new TcpListeners(bootstrap(settings, transport, new Initializer(null)), listening);
        tlsListeners = new TcpListeners(bootstrap(settings, transport, new Initializer(
                settings.number(ProxySetting.TLS_PORT) > 0 ? settings.tls() : null)), listening);
    }

    private ServerBootstrap bootstrap(ProxySettings settings, Transport transport, Initializer initializer) {
        return new ServerBootstrap().group(acceptor, loops).channel(transport.serverChannel())
                .option(ChannelOption.SO_BACKLOG, settings.number(ProxySetting.TCP_BACKLOG))
                .option(ChannelOption.SO_REUSEADDR, true).childOption(ChannelOption.TCP_NODELAY, true)
                .childOption(ChannelOption.SO_KEEPALIVE, true).childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, WATERMARK).childHandler(initializer);
    }

    /** Sets up the connection of a client, encrypted if there is a context. Thread-safe: it has no state. */
    private final class Initializer extends ChannelInitializer<Channel> {
        private final @Nullable TlsContext tls;

        Initializer(@Nullable TlsContext tls) {
            this.tls = tls;
        }

        @Override
        protected void initChannel(Channel channel) {
            clients.add(channel);
            if (tls != null) {
                channel.pipeline().addLast(new SslHandler(tls.newEngine(), handshakes));
            }
            channel.pipeline().addLast(new ClientConnection(loop(channel.eventLoop()), channel));
        }
    }

    private ProxyLoop loop(EventLoop loop) {
        return Objects.requireNonNull(byLoop.get(loop));
    }

    /**
     * Starts a proxy whose slot map comes from where the settings say.
     *
     * @throws IOException if it cannot listen
     */
    public static ProxyServer start(ProxySettings settings) throws IOException {
        return start(settings, source(settings));
    }

    /** As {@link #start(ProxySettings)}, with another source of the slot map, which the proxy closes. */
    public static ProxyServer start(ProxySettings settings, MapSource source) throws IOException {
        ProxyServer server = new ProxyServer(settings, source);
        try {
            server.run(settings);
        } catch (IOException | RuntimeException failed) {
            server.close();
            throw failed;
        }
        return server;
    }

    private static MapSource source(ProxySettings settings) {
        if (!settings.controllers().isEmpty()) {
            return new ControllersMapSource(settings.controllers(), settings.number(ProxySetting.MAP_REFRESH_MS));
        }
        String kind = settings.text(ProxySetting.MEMBER_KIND);
        boolean isWeighted = settings.members().stream().anyMatch(member -> member.isWeighted());
        return kind.equals("plain") || isWeighted
                ? new StaticMapSource(settings.members())
                : new MembersMapSource(settings.members(), kind.equals("auto"), settings.credentials(),
                        settings.number(ProxySetting.MAP_REFRESH_MS),
                        settings.number(ProxySetting.MEMBER_CONNECT_TIMEOUT_MS));
    }

    // The loops run their tasks in any case.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void run(ProxySettings settings) throws IOException {
        byLoop.forEach((loop, own) -> loop.scheduleAtFixedRate(() -> own.router().members().check(), CHECK_MILLIS,
                CHECK_MILLIS, TimeUnit.MILLISECONDS));
        source.start(this::changed);
        if (copies != null) {
            copies.start();
        }
        String bind = settings.text(ProxySetting.BIND);
        int tlsPort = settings.number(ProxySetting.TLS_PORT);
        if (tlsPort > 0) {
            tlsListeners.listen(bind, tlsPort);
        }
        if (tlsPort == 0 || settings.number(ProxySetting.PORT) > 0) {
            listeners.listen(bind, settings.number(ProxySetting.PORT));
        }
        state.port(port());
    }

    private void changed(SlotTable table) {
        state.table(table);
        if (copies != null) {
            copies.table(table);
        }
        byLoop.forEach((loop, own) -> loop.execute(() -> own.table(table)));
    }

    /** The listening port without encryption; 0 if there is none. */
    public int port() {
        return listeners.port();
    }

    /** The listening port with encryption; 0 if there is none. */
    public int tlsPort() {
        return tlsListeners.port();
    }

    /** Stops listening, and closes all connections. */
    @Override
    public void close() {
        source.close();
        if (copies != null) {
            copies.close();
        }
        listening.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        clients.close().awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS);
        acceptor.shutdownGracefully(0, DRAIN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(DRAIN_SECONDS,
                TimeUnit.SECONDS);
        List<io.netty.util.concurrent.Future<?>> ended = new ArrayList<>();
        byLoop.forEach((loop, own) -> ended.add(loop.submit(() -> {
            own.router().members().close();
            own.close();
        })));
        ended.forEach(end -> end.awaitUninterruptibly(DRAIN_SECONDS, TimeUnit.SECONDS));
        loops.shutdownGracefully(0, DRAIN_SECONDS, TimeUnit.SECONDS).awaitUninterruptibly(DRAIN_SECONDS,
                TimeUnit.SECONDS);
        handshakes.shutdownNow();
    }
}
