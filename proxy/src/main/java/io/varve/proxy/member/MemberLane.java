package io.varve.proxy.member;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.ssl.SslHandler;
import io.varve.proxy.map.Endpoint;
import io.varve.server.tls.TlsContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of calls to a member: a connection, which is opened when a call needs it, and the calls that wait for it.
 * Confined to an event loop.
 *
 * <p>Many clients share a lane and fill its pipeline, or one client has a dedicated lane. A shared lane opens another
 * connection after the loss of one. A dedicated one does not, because the member has then forgotten the client's state.
 */
public final class MemberLane {
    private static final Logger LOG = LoggerFactory.getLogger(MemberLane.class);
    /** Pending bytes at which no more calls are written, and those below which writing resumes. */
    private static final WriteBufferWaterMark WATERMARK = new WriteBufferWaterMark(256 << 10, 1 << 20);

    private static final ByteBuf PING = Unpooled.unreleasableBuffer(
            Unpooled.copiedBuffer("*1\r\n$4\r\nPING\r\n", StandardCharsets.US_ASCII));

    private final LoopMembers members;
    private final Endpoint endpoint;
    private final int protocol;
    private final boolean isDedicated;
    private final boolean readsCopies;
    private final MemberHealth health;
    private final ArrayDeque<MemberCall> waiting = new ArrayDeque<>();
    /** Requests for frames that wait for the connection. */
    private final ArrayDeque<ByteBuf> told = new ArrayDeque<>();
    private @Nullable MemberConnection connection;
    private @Nullable Consumer<ByteBuf> frames;
    private @Nullable Runnable onBroken;
    private boolean isBroken;
    private boolean isForgotten;

    MemberLane(LoopMembers members, Endpoint endpoint, int protocol, boolean isDedicated, boolean readsCopies) {
        this.members = members;
        this.endpoint = endpoint;
        this.protocol = protocol;
        this.isDedicated = isDedicated;
        this.readsCopies = readsCopies;
        health = members.health(endpoint);
    }

    public Endpoint endpoint() {
        return endpoint;
    }

    /** 2 or 3: what the connection speaks. */
    public int protocol() {
        return protocol;
    }

    /** Whether the member shall serve its copies of others' keys. */
    boolean readsCopies() {
        return readsCopies;
    }

    /** Whether a dedicated lane has lost its connection, or is closed. */
    public boolean isBroken() {
        return isBroken;
    }

    /** Sends a call as soon as the connection takes it. */
    public void submit(MemberCall call) {
        MemberConnection open = connection;
        if (open != null && waiting.isEmpty() && open.isReady() && open.isWritable()) {
            open.send(call);
        } else if (isBroken || open == null && !open()) {
            call.failed(MemberFailure.UNREACHABLE);
        } else {
            waiting.add(call);
            call.hold();
        }
    }

    private boolean open() {
        if (!health.admits(System.nanoTime())) {
            return false;
        }
        connect();
        return true;
    }

    /** Asks an ejected member for a sign of life, on a new connection if there is none. */
    void probe() {
        MemberConnection open = connection;
        if (open == null) {
            connect();
        } else if (open.isReady()) {
            submit(new MemberCall(PING, 0, true, new Probe()));
        }
    }

    /** Ignores the reply: the connection has told the member's health. Stateless. */
    private static final class Probe implements MemberCall.Outcome {
        @Override
        public void replied(ByteBuf reply, @Nullable String leadingError) {
            reply.release();
        }

        @Override
        public void failed(MemberFailure failure) {
            LOG.debug("A probe failed: {}", failure);
        }
    }

    private void connect() {
        MemberSettings settings = members.settings();
        MemberConnection opened = new MemberConnection(this, settings, health,
                isDedicated ? 0 : settings.mergeWindowMillis());
        connection = opened;
        if (frames != null) {
            opened.frames(frames);
        }
        TlsContext tls = settings.credentials().tls();
        new Bootstrap().group(members.loop()).channel(members.channelType())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, settings.connectTimeoutMillis())
                .option(ChannelOption.TCP_NODELAY, true).option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATERMARK)
                .handler(tls == null ? opened : encrypted(opened, tls))
                .connect(endpoint.host(), endpoint.port()).addListener(result -> {
                    if (!result.isSuccess()) {
                        opened.refused(result.cause());
                    }
                });
    }

    private ChannelHandler encrypted(MemberConnection opened, TlsContext tls) {
        return new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel channel) {
                channel.pipeline().addLast(new SslHandler(tls.newClientEngine(endpoint.host(), endpoint.port())),
                        opened);
            }
        };
    }

    void ready() {
        MemberConnection open = connection;
        while (open != null && !told.isEmpty()) {
            open.sendForFrames(told.remove());
        }
        drain();
    }

    /** Sends calls that waited. */
    void drain() {
        MemberConnection open = connection;
        while (open != null && open == connection && !waiting.isEmpty() && open.isReady() && open.isWritable()) {
            open.send(waiting.remove());
        }
    }

    /** Passes all that the member sends, after the handshake, to a consumer, which takes it over. */
    public void listen(Consumer<ByteBuf> consumer) {
        frames = consumer;
        if (connection != null) {
            connection.frames(consumer);
        }
    }

    /** Sends a request, which is taken over; its replies go to the consumer of {@link #listen}. */
    public void tell(ByteBuf request) {
        MemberConnection open = connection;
        if (open != null && open.isReady()) {
            open.sendForFrames(request);
        } else if (!isBroken && (open != null || open())) {
            told.add(request);
        } else {
            request.release();
            boolean wasBroken = isBroken;
            isBroken |= isDedicated;
            breakDown(wasBroken);
        }
    }

    private void breakDown(boolean wasBroken) {
        told.forEach(ByteBuf::release);
        told.clear();
        Runnable action = onBroken;
        if (isBroken && !wasBroken && action != null) {
            action.run();
        }
    }

    /** Stops or resumes reading what the member sends. */
    public void reading(boolean isOn) {
        if (connection != null) {
            connection.reading(isOn);
        }
    }

    /** Runs an action when a dedicated lane loses its connection. */
    public void onBroken(@Nullable Runnable action) {
        onBroken = action;
    }

    void answered() {
        if (isForgotten && !isBusy()) {
            close();
        }
    }

    /** The member has left the map: a shared lane closes as soon as it is idle. */
    void forget() {
        isForgotten = true;
        answered();
    }

    boolean isBusy() {
        return !waiting.isEmpty() || connection != null && connection.isBusy();
    }

    /** Whether another client may have this dedicated lane. */
    boolean isClean() {
        return !isBroken && !isBusy() && frames == null && connection != null && connection.isReady();
    }

    void check(long now) {
        if (connection != null) {
            connection.check(now);
        }
    }

    /** @param isFailure whether the member has failed */
    void closed(boolean wasReady, boolean isFailure, List<MemberCall> calls, MemberFailure failure, String why) {
        connection = null;
        boolean wasBroken = isBroken;
        // Before a call fails: its client may send its next request at once, and must not reach a new connection.
        isBroken |= isDedicated;
        if (isFailure && !wasBroken) {
            health.failed(System.nanoTime(), why);
            LOG.debug("Connection to {}: {}; {} calls in flight", endpoint, why, calls.size());
        }
        calls.forEach(call -> call.failed(failure));
        if (!waiting.isEmpty() && (isDedicated || connection == null && (!wasReady || !open()))) {
            List<MemberCall> unsent = List.copyOf(waiting);
            waiting.clear();
            unsent.forEach(call -> call.failed(MemberFailure.UNREACHABLE));
        }
        breakDown(wasBroken);
    }

    /** Closes the connection; calls in flight fail. */
    public void close() {
        isBroken |= isDedicated;
        onBroken = null;
        MemberConnection open = connection;
        if (open != null) {
            open.close("the proxy closed the connection");
        }
    }
}
