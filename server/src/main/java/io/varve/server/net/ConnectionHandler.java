package io.varve.server.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.unix.DomainSocketAddress;
import io.netty.channel.unix.UnixChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.util.concurrent.ScheduledFuture;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.Batch;
import io.varve.server.command.Client;
import io.varve.server.command.Connection;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Suspension;
import io.varve.server.command.Transaction;
import io.varve.server.resp.LargeBulks;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection: receives, decodes a batch, has it executed, writes the replies, and lets other connections have their
 * turn. Confined to its event loop, but for {@link Connection}'s methods.
 *
 * <p>Back-pressure: nothing is read and nothing executed while replies over the watermark wait to be written. A batch
 * that is interrupted by it is parked with the connection and goes on where it was. The same holds for a batch whose
 * last executed command waits for its answer ({@link Suspension}): the event loop serves others meanwhile.
 */
// A failed write or close shows as channelInactive, which cleans up: nobody needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class ConnectionHandler extends ChannelInboundHandlerAdapter implements Connection, Outgoing.Owner {
    private static final long[] NO_KEYS = {};
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);

    private final ServerContext server;
    private final Workers workers;
    private final ConnectionBuffers buffers;
    private final Channel channel;
    /** What holds replies back until they are encrypted; null where they are not. */
    private final @Nullable TlsOutlet outlet;
    private final Incoming incoming;
    private final Lingering lingering;
    private final Runnable nextTurn = this::turn;
    private @Nullable Worker worker;
    private @Nullable Client client;
    /** Set before the client can subscribe to anything, and so before another thread can ask for it. */
    private @Nullable Outgoing outgoing;

    private final ParkedBatch parked;
    /** What the client waits for: the rest of its batch, be it empty, is then {@link #parked}. */
    private @Nullable Suspension waiting;
    private @Nullable ScheduledFuture<?> waitingEnds;
    private boolean inTurn;
    private boolean turnScheduled;
    private boolean closed;
    /** Counts what came, to see whether anything has. */
    private int reads;
    private int readsChecked;
    private long outgoingChecked;
    /** When something was last seen to have come or gone, or to have been answered late. */
    private long movedMillis;

    ConnectionHandler(ServerContext server, Workers workers, LargeBulks largeBulks, ConnectionBuffers buffers,
            Channel channel, @Nullable TlsOutlet outlet) {
        this.server = server;
        this.outlet = outlet;
        this.workers = workers;
        this.buffers = buffers;
        this.channel = channel;
        parked = new ParkedBatch(server.argumentMemory());
        lingering = new Lingering(channel, server.ticker(), outlet != null);
        incoming = new Incoming(server, largeBulks.beside(this::queuedKeys), buffers);
    }

    /** Hashes of the keys that its transaction names. */
    private long[] queuedKeys() {
        Client me = client;
        Transaction queued = me == null ? null : me.transaction();
        return queued == null || queued.failed() ? NO_KEYS : queued.keyHashes();
    }

    // --- life

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (!server.clients().admit(server.mostClients())) {
            refuse("ERR max number of clients reached");
            return;
        }
        String denied = ProtectedMode.refusal(server, channel.remoteAddress());
        if (denied != null) {
            server.clients().turnAway();
            refuse(denied);
            return;
        }
        Worker mine = workers.of(channel.eventLoop());
        Client me = server.connect(this, text(channel, channel.remoteAddress()),
                text(channel, channel.localAddress()));
        worker = mine;
        outgoing = new Outgoing(server, buffers, channel, mine, me, this);
        client = me;
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed = true;
        Client leaving = client;
        if (leaving != null) {
            out().end();
            server.disconnect(leaving);
        }
        if (!inTurn) {
            letGo();
        }
    }

    /**
     * No command runs any more but those of a turn that is on, and others get what was kept for this client: at once, as closing may take a
     * while. An encrypted connection says so first, to a client that may not read.
     */
    private void endAndClose() {
        closed = true;
        channel.close();
        if (!inTurn) {
            letGo();
        }
    }

    /** Gives up what it waits for, its place among others who wait, and what it has not executed or not wholly received. */
    private void letGo() {
        Client leaving = client;
        if (leaving != null) {
            out().end();
            leaving.subscriptions().cutOff();
            server.waitsNoMore(leaving);
        }
        Suspension ended = waiting;
        endWaiting();
        if (ended != null) {
            ended.over();
        }
        Batch dropped = parked.take();
        if (dropped != null) {
            java.util.Objects.requireNonNull(worker).giveBack(dropped);
        }
        incoming.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof DecoderException && cause.getCause() instanceof SSLException tls) {
            buffers.logClosed(channel.remoteAddress(), tls, server.ticker().wallMillis());
        } else if (cause instanceof IOException
                || !channel.isOpen() && cause.getCause() instanceof RejectedExecutionException) {
            // Of a handshake that had more to do when its client left, nothing is done any more.
            LOG.debug("Connection {} broke: {}", channel.remoteAddress(), cause.toString());
        } else {
            logUnexpected(cause);
        }
        endAndClose();
    }

    private void logUnexpected(Throwable cause) {
        if (cause instanceof NoBufferException || cause instanceof OutOfMemoryError) {
            buffers.logClosed(channel.remoteAddress(), cause, server.ticker().wallMillis());
        } else {
            LOG.error("Connection {} is closed because of an unexpected error", channel.remoteAddress(), cause);
        }
    }

    private void refuse(String error) {
        closed = true;
        if (outlet != null) {
            // It would have to shake hands first.
            channel.close();
            return;
        }
        byte[] bytes = ("-" + error + "\r\n").getBytes(StandardCharsets.US_ASCII);
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes)).addListener(ChannelFutureListener.CLOSE);
    }

    // --- coming in

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        if (closed || client == null) {
            lingering.dropped(in.readableBytes());
            in.release();
            return;
        }
        Worker mine = java.util.Objects.requireNonNull(worker);
        mine.dispatcher().counters().add(LoopCounters.Total.INPUT_BYTES, in.readableBytes());
        mine.dispatcher().counters().add(LoopCounters.Total.READS, 1);
        reads++;
        if (parked.isThere() || inTurn) {
            incoming.receiveLate(in);
            if (waiting != null && !inTurn) {
                goOn();
            }
            return;
        }
        incoming.receive(in);
        if (!turnScheduled) {
            turn();
        }
    }

    // --- a turn

    /** Executes one batch, or the rest of one, and writes the replies. */
    private void turn() {
        turnScheduled = false;
        Suspension suspended = waiting;
        // One that is closed and has not heard of it yet cannot be told what it would take.
        if (closed || inTurn || suspended != null && !suspended.answered() || !channel.isActive()) {
            return;
        }
        Client me = java.util.Objects.requireNonNull(client);
        if (me.killed()) {
            // It is not listed any more; that it is to close is on its way.
            return;
        }
        inTurn = true;
        try {
            execute(me, java.util.Objects.requireNonNull(worker));
            if (me.closing() || incoming.error() != null && !parked.isThere()) {
                closed = true;
                out().end();
                channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                        .addListener(me.closing() ? ChannelFutureListener.CLOSE : _ -> lingering.begin());
            }
        } catch (Throwable fatal) {
            // Out of memory for buffers, or a bug outside of a handler: this connection ends, the others go on.
            java.util.Objects.requireNonNull(worker).reply().close();
            failed(fatal);
        } finally {
            inTurn = false;
        }
        if (closed) {
            letGo();
            return;
        }
        try {
            goOn();
        } catch (Throwable fatal) {
            // As above: otherwise it would be open, and nobody would ever go on with it.
            failed(fatal);
        }
    }

    private void execute(Client me, Worker mine) {
        ReplyWriter reply = mine.reply();
        reply.protocol(me.protocol());
        Batch rest = parked.take();
        boolean fresh = rest == null;
        Batch batch = rest == null ? mine.takeBatch() : rest;
        int next = fresh ? 0 : parked.next();
        boolean isKept = false;
        try {
            Suspension answered = waiting;
            if (answered != null) {
                endWaiting();
                movedMillis = server.ticker().wallMillis();
                try {
                    mine.dispatcher().answer(answered, me, reply);
                } finally {
                    answered.over();
                }
            }
            if (fresh) {
                incoming.decode(me.authenticated(), batch);
                mine.dispatcher().prepare(batch, me);
            }
            int reached = mine.dispatcher().run(batch, next, me, reply);
            Suspension suspended = mine.dispatcher().takeSuspension();
            if (suspended != null) {
                await(suspended, me);
            }
            if ((reached < batch.commandCount() || suspended != null) && !me.closing()) {
                isKept = true;
                parked.park(batch, reached);
            }
        } finally {
            if (!isKept) {
                mine.giveBack(batch);
                incoming.executed();
            }
        }
        String error = incoming.error();
        if (error != null && !parked.isThere() && !me.closing()) {
            reply.error("ERR " + error);
            LOG.info("Connection {} is closed: {}", channel.remoteAddress(), error);
        }
        out().write(reply);
    }

    private void await(Suspension suspended, Client me) {
        waiting = suspended;
        me.suspension(suspended);
        long millis = suspended.timeoutMillis();
        if (millis > 0) {
            waitingEnds = channel.eventLoop().schedule(suspended::timeOut, millis, TimeUnit.MILLISECONDS);
        }
        suspended.onAnswer(this::wakeUp);
    }

    /** By any thread. */
    private void wakeUp() {
        try {
            channel.eventLoop().execute(nextTurn);
        } catch (RejectedExecutionException ended) {
            LOG.debug("Connection {} has ended with its event loop", channel.remoteAddress(), ended);
        }
    }

    private void endWaiting() {
        waiting = null;
        if (waitingEnds != null) {
            waitingEnds.cancel(false);
            waitingEnds = null;
        }
        if (client != null) {
            client.suspension(null);
        }
    }

    private Outgoing out() {
        return java.util.Objects.requireNonNull(outgoing);
    }

    @Override
    public void cutOff() {
        endAndClose();
    }

    @Override
    public void failed(Throwable cause) {
        logUnexpected(cause);
        endAndClose();
    }

    /** Decides what happens next: another turn, waiting for the client to read, or for more to arrive. */
    private void goOn() {
        if (parked.isThere() ? !slimOrClose() : !compactOrClose()) {
            return;
        }
        boolean writable = channel.isWritable();
        boolean work = parked.isThere() || incoming.hasMore();
        boolean waits = waiting != null;
        if (work && !waits && writable && !turnScheduled) {
            turnScheduled = true;
            channel.eventLoop().execute(nextTurn);
        }
        // While it waits it is read on, a little, so that its closing is noticed.
        boolean read = writable && (waits ? incoming.takesLate() : !work);
        if (channel.config().isAutoRead() != read) {
            channel.config().setAutoRead(read);
        }
        incoming.measure();
        if (incoming.bytes() > server.config().queryBufferLimitBytes()) {
            LOG.warn("Connection {} is closed: its query buffer is over the limit", channel.remoteAddress());
            server.clients().countOverInputLimit();
            endAndClose();
        }
    }

    /** @return whether there was memory for what has to be kept; if not, the connection is closed */
    private boolean compactOrClose() {
        try {
            incoming.compact();
            return true;
        } catch (NoBufferException | OutOfMemoryError none) {
            closeFor(none);
            return false;
        }
    }

    private void closeFor(Throwable none) {
        logUnexpected(none);
        endAndClose();
    }

    /** The same for the batch that is parked, if it may be so for long. */
    private boolean slimOrClose() {
        if (waiting == null && channel.isWritable()) {
            return true;
        }
        Batch whole = parked.slim();
        if (whole != null) {
            java.util.Objects.requireNonNull(worker).giveBack(whole);
            incoming.executed();
        }
        if (parked.isOver()) {
            incoming.releaseIfDecoded();
        }
        if (!parked.charge()) {
            closeFor(NoBufferException.ofHeap());
            return false;
        }
        return true;
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (!closed && client != null && channel.isWritable()) {
            out().scheduleMail();
            if (!inTurn) {
                goOn();
            }
        }
    }

    /**
     * Applies the soft output limit and the idle timeout, which is not for those who listen; called about once a second. Who is to be closed once it
     * has read its last replies is idle too if it does not read them.
     */
    void check(long nowMillis) {
        lingering.check(nowMillis);
        Client me = client;
        if (me == null || !channel.isOpen()) {
            return;
        }
        if (!closed) {
            out().check(nowMillis);
        }
        long timeoutMillis = server.config().number("timeout") * 1000;
        boolean mayBeIdle = !closed && (waiting != null || me.hasMessages());
        if (!isMoving(nowMillis) && timeoutMillis > 0 && !mayBeIdle
                && nowMillis - Math.max(movedMillis, me.lastInteractionMillis()) > timeoutMillis) {
            LOG.debug("Connection {} is closed: idle", channel.remoteAddress());
            endAndClose();
        }
    }

    /** Whether anything has come or gone since the last check: a long request, or a long reply, takes its time. */
    private boolean isMoving(long nowMillis) {
        long outgoingNow = outgoingBytes();
        boolean isMoving = reads != readsChecked || outgoingNow != outgoingChecked;
        readsChecked = reads;
        outgoingChecked = outgoingNow;
        movedMillis = isMoving ? nowMillis : movedMillis;
        return isMoving;
    }

    // --- Connection, for any thread

    @Override
    public void kill() {
        EventLoop loop = channel.eventLoop();
        if (loop.inEventLoop()) {
            cutOff();
            return;
        }
        try {
            loop.execute(this::cutOff);
        } catch (RejectedExecutionException ended) {
            LOG.debug("Connection {} has ended with its event loop", channel.remoteAddress(), ended);
        }
    }

    @Override
    public void mailCame() {
        try {
            channel.eventLoop().execute(out().mailTurn());
        } catch (RejectedExecutionException ended) {
            LOG.debug("Connection {} gets no more messages: the server ends", channel.remoteAddress(), ended);
        }
    }

    @Override
    public long outgoingBytes() {
        var buffer = channel.unsafe().outboundBuffer();
        return (buffer == null ? 0 : buffer.totalPendingWriteBytes()) + (outlet == null ? 0 : outlet.waitingBytes());
    }

    @Override
    public long incomingBytes() {
        return isAskedInTurn() ? incoming.bytesInTurn() : incoming.bytes();
    }

    @Override
    public long incomingCapacityBytes() {
        return isAskedInTurn() ? incoming.capacityBytesInTurn() : incoming.capacityBytes();
    }

    /** Whether the client's own command asks: others are told what there was when it was last measured. */
    private boolean isAskedInTurn() {
        return channel.eventLoop().inEventLoop() && inTurn;
    }

    @Override
    public int fileDescriptor() {
        return channel instanceof UnixChannel unix ? unix.fd().intValue() : -1;
    }

    @Override
    public boolean isUnixSocket() {
        return socketPath(channel) != null;
    }

    /** The socket in the file system that a client came through; null if it came over TCP. */
    private static @Nullable String socketPath(Channel channel) {
        return channel.parent() == null ? null : switch (channel.parent().localAddress()) {
            case DomainSocketAddress domain -> domain.path();
            case UnixDomainSocketAddress domain -> domain.getPath().toString();
            case null, default -> null;
        };
    }

    private static String text(Channel channel, @Nullable SocketAddress address) {
        if (address instanceof InetSocketAddress inet) {
            String host = inet.getAddress().getHostAddress();
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + inet.getPort();
        }
        String path = socketPath(channel);
        return (path == null ? "?" : path) + ":0";
    }
}
