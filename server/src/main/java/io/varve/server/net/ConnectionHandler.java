package io.varve.server.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
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
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.Connection;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.replication.Feed;
import io.varve.server.replication.Replica;
import io.varve.server.resp.LargeBulks;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.ServedReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection: receives bytes, decodes a batch, has it executed, writes the replies, and yields to other
 * connections. Confined to its event loop, except {@link Connection}'s methods.
 *
 * <p>Backpressure: while replies over the high watermark are pending, the handler neither reads nor executes. It parks
 * the interrupted batch and resumes it later. It also parks a batch whose last executed command waits for its reply
 * ({@link ParkedCommand}), so that the event loop serves other connections.
 */
// A failed write or close shows as channelInactive, which cleans up: no caller needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class ConnectionHandler extends ChannelInboundHandlerAdapter implements Connection, Outgoing.Owner {
    private static final long[] NO_KEYS = {};
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);

    private final ServerState server;
    private final Workers workers;
    private final ConnectionBuffers buffers;
    private final Channel channel;
    /** Holds replies back until they are encrypted; null for plain connections. */
    private final @Nullable TlsWriteThrottle writeThrottle;
    private final Incoming incoming;
    private final LingeringClose lingeringClose;
    private final Runnable batchTask = this::executeBatch;
    private @Nullable Worker worker;
    private @Nullable Client client;
    /** Set before the client can subscribe to anything, and so before another thread can read it. */
    private @Nullable Outgoing outgoing;

    private final ParkedBatch parked;
    /** The command that the client waits for; the rest of its batch, possibly empty, is then {@link #parked}. */
    private @Nullable ParkedCommand waiting;
    private @Nullable ScheduledFuture<?> waitingEnds;
    private boolean isExecuting;
    private boolean batchScheduled;
    private boolean closed;
    /** Counts reads, to detect activity. */
    private int reads;
    private int readsChecked;
    private long outgoingChecked;
    /** Time of the last observed activity: input, output, or a delayed reply. */
    private long movedMillis;

    ConnectionHandler(ServerState server, Workers workers, LargeBulks largeBulks, ConnectionBuffers buffers,
            Channel channel, @Nullable TlsWriteThrottle writeThrottle) {
        this.server = server;
        this.writeThrottle = writeThrottle;
        this.workers = workers;
        this.buffers = buffers;
        this.channel = channel;
        parked = new ParkedBatch(server.argumentMemory());
        lingeringClose = new LingeringClose(channel, server.ticker(), writeThrottle != null);
        incoming = new Incoming(server, largeBulks.beside(this::queuedKeys), buffers);
    }

    /** Hashes of the keys in its transaction. */
    private long[] queuedKeys() {
        Client me = client;
        Transaction queued = me == null ? null : me.transaction();
        return queued == null || queued.failed() ? NO_KEYS : queued.keyHashes();
    }

    // --- life cycle

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (!server.lifecycle().clients().admit(server.lifecycle().maxClients())) {
            refuse("ERR max number of clients reached");
            return;
        }
        String denied = ProtectedMode.refusal(server, channel.remoteAddress());
        if (denied != null) {
            server.lifecycle().clients().reject();
            refuse(denied);
            return;
        }
        Worker mine = workers.of(channel.eventLoop());
        Client me = server.lifecycle().connect(this, text(channel, channel.remoteAddress()),
                text(channel, channel.localAddress()));
        worker = mine;
        outgoing = new Outgoing(server, buffers, channel, mine, me, this);
        client = me;
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed = true;
        Client disconnecting = client;
        if (disconnecting != null) {
            out().end();
            server.lifecycle().disconnect(disconnecting);
        }
        if (!isExecuting) {
            releaseAll();
        }
        if (disconnecting != null) {
            out().dropHeld();
        }
    }

    /**
     * Ends the connection: only commands of the current turn still run, and the client waits for nothing any more,
     * since the close may take a while. An encrypted connection sends a close notification first, to a client that may
     * not read.
     */
    private void endAndClose() {
        closed = true;
        if (client != null && !isExecuting) {
            sendServedReply(client);
        }
        channel.close();
        if (!isExecuting) {
            releaseAll();
        }
    }

    /** Sends the reply of a client that was served before its end: no other client can get that element. */
    private void sendServedReply(Client ending) {
        ServedReply served = server.lifecycle().endWait(ending);
        if (served != null && ending.replyMode() == Client.ReplyMode.ON) {
            ending.servedUnderLease(true);
            try (ReplyWriter reply = new ReplyWriter(buffers, server.argumentMemory())) {
                served.writeTo(reply);
                out().write(reply);
            } catch (NoBufferException none) {
                logUnexpected(none);
            }
        } else if (served != null) {
            served.release();
        }
    }

    /**
     * Releases everything that the client holds: what it waits for, its place among waiting clients, and its unexecuted
     * or incomplete input.
     */
    private void releaseAll() {
        Client disconnecting = client;
        if (disconnecting != null) {
            out().end();
            disconnecting.subscriptions().disconnect();
            server.lifecycle().stopWaiting(disconnecting);
            Replica replica = disconnecting.replica();
            if (replica != null) {
                server.replicas().detach(replica);
            }
        }
        ParkedCommand ended = waiting;
        endWaiting();
        if (ended != null) {
            ended.finish();
        }
        Batch dropped = parked.take();
        if (dropped != null) {
            Objects.requireNonNull(worker).returnBatch(dropped);
        }
        incoming.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof DecoderException && cause.getCause() instanceof SSLException tls) {
            buffers.logClosed(channel.remoteAddress(), tls, server.ticker().wallMillis());
        } else if (cause instanceof IOException
                || !channel.isOpen() && cause.getCause() instanceof RejectedExecutionException) {
            // The client closed during its handshake: the remaining work is dropped.
            LOG.debug("Connection {} failed: {}", channel.remoteAddress(), cause.toString());
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
        if (writeThrottle != null) {
            // A refusal would need a handshake first.
            channel.close();
            return;
        }
        byte[] bytes = ("-" + error + "\r\n").getBytes(StandardCharsets.US_ASCII);
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes)).addListener(ChannelFutureListener.CLOSE);
    }

    // --- input

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        if (closed || client == null) {
            lingeringClose.dropped(in.readableBytes());
            in.release();
            return;
        }
        Worker mine = Objects.requireNonNull(worker);
        mine.dispatcher().counters().add(LoopCounters.Total.INPUT_BYTES, in.readableBytes());
        mine.dispatcher().counters().add(LoopCounters.Total.READS, 1);
        reads++;
        boolean isDraining = out().isDraining();
        if (parked.isPresent() || isExecuting || isDraining) {
            incoming.receiveWhileBusy(in);
            if ((waiting != null || isDraining) && !isExecuting) {
                resume();
            }
            return;
        }
        incoming.receive(in);
        if (!batchScheduled) {
            executeBatch();
        }
    }

    // --- a turn

    /** Executes one batch, or the rest of one, and writes the replies. */
    private void executeBatch() {
        batchScheduled = false;
        ParkedCommand parkedCommand = waiting;
        // A connection that is closed without a notification yet must not take anything that its client would not
        // receive.
        if (closed || isExecuting || parkedCommand != null && !parkedCommand.answered() || !channel.isActive()) {
            return;
        }
        Client me = Objects.requireNonNull(client);
        if (me.killed()) {
            // The client was removed from the list, and its close is pending.
            return;
        }
        isExecuting = true;
        Worker atTurn = Objects.requireNonNull(worker).atTurn();
        try {
            execute(me, atTurn);
            if (me.closing() || incoming.error() != null && !parked.isPresent()) {
                closed = true;
                out().end();
                out().afterFlush(() -> channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                        .addListener(me.closing() ? ChannelFutureListener.CLOSE : _ -> lingeringClose.begin()));
            }
        } catch (Throwable fatal) {
            // Out of memory for buffers, or a bug outside a handler: this connection ends, the others continue.
            atTurn.reply().close();
            failed(fatal);
        } finally {
            isExecuting = false;
        }
        if (closed) {
            releaseAll();
            return;
        }
        try {
            resume();
        } catch (Throwable fatal) {
            // As above: otherwise the connection would stay open without further turns.
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
            ParkedCommand answered = waiting;
            if (answered != null) {
                endWaiting();
                movedMillis = server.ticker().wallMillis();
                try {
                    mine.dispatcher().answer(answered, me, reply);
                } finally {
                    answered.finish();
                }
            }
            if (fresh) {
                incoming.decode(me.authenticated(), batch);
                mine.dispatcher().prepare(batch, me);
            }
            int reached = mine.dispatcher().run(batch, next, me, reply);
            ParkedCommand parkedCommand = mine.dispatcher().takeParkedCommand();
            if (parkedCommand != null) {
                await(parkedCommand, me);
            }
            if ((reached < batch.commandCount() || parkedCommand != null) && !me.closing()) {
                isKept = true;
                parked.park(batch, reached);
            }
        } finally {
            if (!isKept) {
                mine.returnBatch(batch);
                incoming.executed();
            }
        }
        String error = incoming.error();
        if (error != null && !parked.isPresent() && !me.closing()) {
            reply.error("ERR " + error);
            LOG.info("Connection {} is closed: {}", channel.remoteAddress(), error);
        }
        out().write(reply);
    }

    private void await(ParkedCommand parkedCommand, Client me) {
        waiting = parkedCommand;
        me.waitState().parkedCommand(parkedCommand);
        long millis = parkedCommand.timeoutMillis();
        if (millis > 0) {
            waitingEnds = channel.eventLoop().schedule(parkedCommand::timeOut, millis, TimeUnit.MILLISECONDS);
        }
        parkedCommand.onAnswer(this::wakeUp);
    }

    /** May be called by any thread. */
    private void wakeUp() {
        post(batchTask);
    }

    private void post(Runnable task) {
        try {
            channel.eventLoop().execute(task);
        } catch (RejectedExecutionException ended) {
            LOG.debug("Connection {} ended with its event loop", channel.remoteAddress(), ended);
        }
    }

    private void endWaiting() {
        waiting = null;
        if (waitingEnds != null) {
            waitingEnds.cancel(false);
            waitingEnds = null;
        }
        if (client != null) {
            client.waitState().parkedCommand(null);
        }
    }

    private Outgoing out() {
        return Objects.requireNonNull(outgoing);
    }

    @Override
    public void disconnect() {
        endAndClose();
    }

    @Override
    public void failed(Throwable cause) {
        logUnexpected(cause);
        endAndClose();
    }

    @Override
    public void released() {
        if (!closed && client != null && !isExecuting) {
            resume();
        }
    }

    /** Decides what happens next: another turn, a wait until the client reads, or a wait for more input. */
    private void resume() {
        if (parked.isPresent() ? !slimOrClose() : !compactOrClose()) {
            return;
        }
        // The commands of a replica are short and have no replies: they are read however much it has to receive.
        boolean writable = channel.isWritable() || client != null && client.isReplica();
        boolean work = parked.isPresent() || incoming.hasMore();
        ParkedCommand awaited = waiting;
        // An answer that came while the batch was executed has not begun a turn.
        boolean isWaiting = awaited != null && !awaited.answered() || out().isDraining();
        if (work && !isWaiting && writable && !batchScheduled) {
            batchScheduled = true;
            channel.eventLoop().execute(batchTask);
        }
        // While the client waits, the connection reads a little input, which detects a close.
        boolean mayRead = out().isDraining() ? !work : incoming.acceptsWhileBusy();
        boolean read = writable && (isWaiting ? mayRead : !work);
        if (channel.config().isAutoRead() != read) {
            channel.config().setAutoRead(read);
        }
        incoming.measure();
        if (incoming.bytes() > server.config().queryBufferLimitBytes()) {
            LOG.warn("Connection {} is closed: its query buffer exceeds the limit", channel.remoteAddress());
            server.lifecycle().clients().countOverInputLimit();
            endAndClose();
        }
    }

    /** @return whether there was memory for the bytes to keep; if not, the connection is closed */
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

    /** Reduces the parked batch to little memory, if it may be parked for long; closes the connection if that fails. */
    private boolean slimOrClose() {
        if (waiting == null && channel.isWritable()) {
            return true;
        }
        Batch whole = parked.slim();
        if (whole != null) {
            Objects.requireNonNull(worker).returnBatch(whole);
            incoming.executed();
        }
        if (parked.isEmpty()) {
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
            out().scheduleDelivery();
            out().feedTask().run();
            if (!isExecuting) {
                resume();
            }
        }
    }

    /**
     * Applies the soft output limit and the idle timeout, from which subscribers and clients that wait are exempt;
     * called about once a second. A client that is closed after its last replies counts as idle too if it does not read
     * them.
     */
    void check(long nowMillis) {
        lingeringClose.check(nowMillis);
        Client me = client;
        if (me == null || !channel.isOpen()) {
            return;
        }
        if (!closed) {
            out().check(nowMillis);
        }
        Replica replica = me.replica();
        if (replica != null && reads != readsChecked) {
            replica.alive();
        }
        long timeoutMillis = server.config().number("timeout") * 1000;
        boolean isExempt = out().isHeld() || me.isReplica() || !closed && (waiting != null || me.hasMessages());
        if (!isMoving(nowMillis) && timeoutMillis > 0 && !isExempt
                && nowMillis - Math.max(movedMillis, me.lastInteractionMillis()) > timeoutMillis) {
            LOG.debug("Connection {} is closed: idle", channel.remoteAddress());
            endAndClose();
        }
    }

    /** Whether there was any activity since the last check: a long request or reply takes its time. */
    private boolean isMoving(long nowMillis) {
        long outgoingNow = outgoingBytes();
        boolean isMoving = reads != readsChecked || outgoingNow != outgoingChecked;
        readsChecked = reads;
        outgoingChecked = outgoingNow;
        movedMillis = isMoving ? nowMillis : movedMillis;
        return isMoving;
    }

    // --- Connection: may be called by any thread

    @Override
    public void kill() {
        EventLoop loop = channel.eventLoop();
        if (loop.inEventLoop()) {
            disconnect();
            return;
        }
        try {
            loop.execute(this::disconnect);
        } catch (RejectedExecutionException ended) {
            LOG.debug("Connection {} ended with its event loop", channel.remoteAddress(), ended);
        }
    }

    @Override
    public void onMessages() {
        post(out().deliveryTask());
    }

    @Override
    public void feed(Feed source) {
        out().feed(source);
    }

    @Override
    public void onFeed() {
        post(out().feedTask());
    }

    @Override
    public long outgoingBytes() {
        var buffer = channel.unsafe().outboundBuffer();
        return (buffer == null ? 0 : buffer.totalPendingWriteBytes())
                + (writeThrottle == null ? 0 : writeThrottle.waitingBytes());
    }

    @Override
    public long incomingBytes() {
        return isReadWhileExecuting() ? incoming.bytesDuringBatch() : incoming.bytes();
    }

    @Override
    public long incomingCapacityBytes() {
        return isReadWhileExecuting() ? incoming.capacityBytesDuringBatch() : incoming.capacityBytes();
    }

    /** Whether the client's own command makes the request: others receive the values of the last measurement. */
    private boolean isReadWhileExecuting() {
        return channel.eventLoop().inEventLoop() && isExecuting;
    }

    @Override
    public int fileDescriptor() {
        return channel instanceof UnixChannel unix ? unix.fd().intValue() : -1;
    }

    @Override
    public boolean isUnixSocket() {
        return socketPath(channel) != null;
    }

    /** The path of the Unix domain socket that the client came through; null for TCP. */
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
