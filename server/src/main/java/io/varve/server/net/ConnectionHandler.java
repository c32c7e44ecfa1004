package io.varve.server.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.util.concurrent.ScheduledFuture;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.Batch;
import io.varve.server.command.Client;
import io.varve.server.command.Connection;
import io.varve.server.command.ServerContext;
import io.varve.server.command.Suspension;
import io.varve.server.config.OutputBufferLimits;
import io.varve.server.resp.LargeBulks;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestDecoder;
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
final class ConnectionHandler extends ChannelInboundHandlerAdapter implements Connection {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);

    /** Bytes decoded before other connections have their turn. */
    private static final int TURN_BYTES = 64 << 10;
    /** What is kept of a request whose need is known and not over this is given just that; else it is doubled. */
    private static final int EXACT_BYTES = 128 << 10;
    /** How long, and how many bytes, a client is still listened to that was told its input makes no sense. */
    private static final int LINGER_MILLIS = 2000;
    private static final int LINGER_BYTES = 16 << 20;

    private final ServerContext server;
    private final Workers workers;
    private final ConnectionBuffers buffers;
    private final Channel channel;
    private final RequestDecoder decoder;
    private final Runnable nextTurn = this::turn;
    private final Consumer<ByteBuf> pieceWriter = this::writePiece;
    private @Nullable Worker worker;
    private @Nullable Client client;

    /** What was received and not decoded; bytes that a batch in execution points into. */
    private @Nullable ByteBuf pending;
    /** What came while a parked batch pointed into {@link #pending}, which must then not move. */
    private @Nullable ByteBuf late;
    private @Nullable Batch parked;
    private int parkedNext;
    /** What the client waits for: the rest of its batch, be it empty, is then {@link #parked}. */
    private @Nullable Suspension waiting;
    private @Nullable ScheduledFuture<?> waitingEnds;
    private boolean inTurn;
    private boolean turnScheduled;
    private boolean moreToDecode;
    private boolean closed;
    private long overSoftLimitSinceMillis;
    /** Bytes that are still read and dropped before the connection is closed, and until when; 0: it does not linger. */
    private int lingerBytes;
    private long lingerUntilMillis;

    private volatile long incomingBytes;
    private volatile long incomingCapacityBytes;

    ConnectionHandler(ServerContext server, Workers workers, LargeBulks largeBulks, ConnectionBuffers buffers,
            Channel channel) {
        this.server = server;
        this.workers = workers;
        this.buffers = buffers;
        this.channel = channel;
        decoder = new RequestDecoder(largeBulks, server.argumentMemory(), server.config().maxBulkBytes());
    }

    // --- life

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        if (!server.clients().admit(server.config().number("maxclients"))) {
            closed = true;
            refuse("ERR max number of clients reached");
            return;
        }
        worker = workers.of(channel.eventLoop());
        client = server.connect(this, text(channel.remoteAddress()), text(channel.localAddress()));
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        closed = true;
        Client leaving = client;
        if (leaving != null) {
            server.clients().remove(leaving);
            leaving.left();
        }
        decoder.close();
        endWaiting();
        if (!inTurn) {
            dropBuffers();
        }
    }

    private void dropBuffers() {
        if (parked != null) {
            java.util.Objects.requireNonNull(worker).giveBack(parked);
            parked = null;
        }
        if (pending != null) {
            pending.release();
            pending = null;
        }
        if (late != null) {
            late.release();
            late = null;
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("Connection {} broke: {}", channel.remoteAddress(), cause.toString());
        } else {
            logUnexpected(cause);
        }
        ctx.close();
    }

    private void logUnexpected(Throwable cause) {
        if (cause instanceof NoBufferException || cause instanceof OutOfMemoryError) {
            buffers.logClosed(channel.remoteAddress(), cause, server.ticker().wallMillis());
        } else {
            LOG.error("Connection {} is closed because of an unexpected error", channel.remoteAddress(), cause);
        }
    }

    private void refuse(String error) {
        byte[] bytes = ("-" + error + "\r\n").getBytes(StandardCharsets.US_ASCII);
        channel.writeAndFlush(Unpooled.wrappedBuffer(bytes)).addListener(ChannelFutureListener.CLOSE);
    }

    // --- coming in

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ByteBuf in = (ByteBuf) message;
        if (closed || client == null) {
            linger(in.readableBytes());
            in.release();
            return;
        }
        Worker mine = java.util.Objects.requireNonNull(worker);
        mine.dispatcher().counters().add(LoopCounters.Total.INPUT_BYTES, in.readableBytes());
        mine.dispatcher().counters().add(LoopCounters.Total.READS, 1);
        if (parked != null || inTurn) {
            late = append(late, in);
            if (waiting != null && !inTurn) {
                goOn();
            }
            return;
        }
        receive(in);
        if (!turnScheduled) {
            turn();
        }
    }

    /** Takes over received bytes: into the large bulk that is awaited, and the rest into {@link #pending}. */
    private void receive(ByteBuf in) {
        if (decoder.isFilling()) {
            long address = in.memoryAddress() + in.readerIndex();
            in.skipBytes(decoder.fill(address, in.readableBytes()));
        }
        if (in.isReadable()) {
            pending = append(pending, in);
        } else {
            in.release();
        }
    }

    private ByteBuf append(@Nullable ByteBuf to, ByteBuf in) {
        if (to == null) {
            return in;
        }
        int more = in.readableBytes();
        ByteBuf target = to;
        try {
            if (to.writableBytes() < more || to.refCnt() > 1) {
                target = buffers.forKeeping(roomFor(to.readableBytes() + more));
                target.writeBytes(to);
                to.release();
            }
            target.writeBytes(in);
        } finally {
            in.release();
        }
        return target;
    }

    /** Doubled, so that a request arriving in small pieces is copied a constant number of times. */
    private int roomFor(int bytes) {
        long needed = decoder.neededBytes();
        if (needed >= bytes && needed <= EXACT_BYTES) {
            return (int) needed;
        }
        return Math.clamp(2L * bytes, 512, Integer.MAX_VALUE);
    }

    // --- a turn

    /** Executes one batch, or the rest of one, and writes the replies. */
    private void turn() {
        turnScheduled = false;
        Suspension suspended = waiting;
        if (closed || inTurn || suspended != null && !suspended.answered()) {
            return;
        }
        inTurn = true;
        try {
            Client me = java.util.Objects.requireNonNull(client);
            execute(me, java.util.Objects.requireNonNull(worker));
            if (me.closing() || decoder.error() != null && parked == null && !moreToDecode) {
                closed = true;
                channel.writeAndFlush(Unpooled.EMPTY_BUFFER)
                        .addListener(me.closing() ? ChannelFutureListener.CLOSE : _ -> lingerThenClose());
            }
        } catch (Throwable fatal) {
            // Out of memory for buffers, or a bug outside of a handler: this connection ends, the others go on.
            closed = true;
            logUnexpected(fatal);
            java.util.Objects.requireNonNull(worker).reply().close();
            channel.close();
        } finally {
            inTurn = false;
        }
        if (closed) {
            dropBuffers();
        } else {
            goOn();
        }
    }

    private void execute(Client me, Worker mine) {
        ReplyWriter reply = mine.reply();
        reply.protocol(me.protocol());
        boolean fresh = parked == null;
        Batch batch = fresh ? mine.takeBatch() : java.util.Objects.requireNonNull(parked);
        int next = fresh ? 0 : parkedNext;
        parked = null;
        boolean handedBack = false;
        try {
            Suspension answered = waiting;
            if (answered != null) {
                endWaiting();
                mine.dispatcher().answer(answered, me, reply);
            }
            if (fresh) {
                decode(me, batch);
                mine.dispatcher().prepare(batch, me);
            }
            int reached = mine.dispatcher().run(batch, next, me, reply);
            Suspension suspended = mine.dispatcher().takeSuspension();
            if (suspended != null) {
                await(suspended, me);
            }
            if ((reached < batch.commandCount() || suspended != null) && !me.closing()) {
                parked = batch;
                parkedNext = reached;
                handedBack = true;
            }
        } finally {
            if (!handedBack) {
                mine.giveBack(batch);
                decoder.executed();
            }
        }
        String error = decoder.error();
        if (error != null && parked == null && !moreToDecode && !me.closing()) {
            reply.error("ERR " + error);
            LOG.info("Connection {} is closed: {}", channel.remoteAddress(), error);
        }
        write(mine, reply);
    }

    private void await(Suspension suspended, Client me) {
        waiting = suspended;
        me.waiting(true);
        long millis = suspended.timeoutMillis();
        if (millis > 0) {
            waitingEnds = channel.eventLoop().schedule(suspended::timeOut, millis, TimeUnit.MILLISECONDS);
        }
        suspended.onAnswer(() -> channel.eventLoop().execute(nextTurn));
    }

    private void endWaiting() {
        waiting = null;
        if (waitingEnds != null) {
            waitingEnds.cancel(false);
            waitingEnds = null;
        }
        if (client != null) {
            client.waiting(false);
        }
    }

    private void decode(Client me, Batch batch) {
        ByteBuf buffer = pending;
        moreToDecode = false;
        if (buffer == null) {
            return;
        }
        decoder.authenticated(me.authenticated());
        decoder.maxBulkBytes(server.config().maxBulkBytes());
        int from = buffer.readerIndex();
        int to = buffer.writerIndex();
        // Until it has authenticated, one at a time: behind its AUTH other limits hold.
        int turnBytes = me.authenticated() ? TURN_BYTES : 1;
        int reached = decoder.decode(buffer.memoryAddress(), from, to, turnBytes, batch);
        if (decoder.isFilling()) {
            buffer.writerIndex(reached + decoder.keepBytes());
        }
        buffer.readerIndex(reached);
        moreToDecode = buffer.isReadable() && decoder.error() == null && !decoder.isFilling()
                && (batch.isFull() || reached - from >= turnBytes);
    }

    private void write(Worker mine, ReplyWriter reply) {
        long bytes = reply.pendingBytes();
        if (bytes == 0) {
            reply.take(_ -> {});
            return;
        }
        mine.dispatcher().counters().add(LoopCounters.Total.OUTPUT_BYTES, bytes);
        mine.dispatcher().counters().add(LoopCounters.Total.WRITES, 1);
        reply.take(pieceWriter);
        channel.flush();
        long hard = server.config().outputBufferLimits().normalHardBytes();
        if (hard > 0 && outgoingBytes() > hard) {
            LOG.warn("Connection {} is closed: it does not read, and {} bytes wait for it", channel.remoteAddress(),
                    outgoingBytes());
            closed = true;
            channel.close();
        }
    }

    private void writePiece(ByteBuf piece) {
        channel.write(piece, channel.voidPromise());
    }

    /** Decides what happens next: another turn, waiting for the client to read, or for more to arrive. */
    private void goOn() {
        if (parked == null && !compactOrClose()) {
            return;
        }
        boolean writable = channel.isWritable();
        boolean work = parked != null || moreToDecode;
        boolean waits = waiting != null;
        if (work && !waits && writable && !turnScheduled) {
            turnScheduled = true;
            channel.eventLoop().execute(nextTurn);
        }
        // While it waits it is read on, a little, so that its closing is noticed.
        boolean read = writable && (waits ? late == null || late.readableBytes() < TURN_BYTES : !work);
        if (channel.config().isAutoRead() != read) {
            channel.config().setAutoRead(read);
        }
        incomingBytes = (pending == null ? 0L : pending.readableBytes()) + (late == null ? 0 : late.readableBytes());
        incomingCapacityBytes = (pending == null ? 0L : pending.capacity()) + (late == null ? 0 : late.capacity());
        if (incomingBytes > server.config().queryBufferLimitBytes()) {
            LOG.warn("Connection {} is closed: its query buffer is over the limit", channel.remoteAddress());
            closed = true;
            channel.close();
            dropBuffers();
        }
    }

    /** @return whether there was memory for what has to be kept; if not, the connection is closed */
    private boolean compactOrClose() {
        try {
            compact();
            return true;
        } catch (NoBufferException | OutOfMemoryError none) {
            logUnexpected(none);
            closed = true;
            channel.close();
            dropBuffers();
            return false;
        }
    }

    /** Lets go of executed bytes, and takes in what came meanwhile. */
    private void compact() {
        ByteBuf buffer = pending;
        if (buffer != null && !buffer.isReadable()) {
            buffer.release();
            pending = null;
        } else if (buffer != null && !moreToDecode && buffer.readableBytes() < buffer.capacity() / 4) {
            // The few bytes of an unfinished request do not hold a large buffer.
            move(buffer, buffer.readableBytes() * 2);
        } else if (buffer != null && !moreToDecode && buffers.isToMove(buffer)) {
            move(buffer, roomFor(buffer.readableBytes()));
        }
        ByteBuf waiting = late;
        if (waiting != null) {
            late = null;
            receive(waiting);
            moreToDecode = pending != null;
        }
    }

    private void move(ByteBuf buffer, int room) {
        ByteBuf target = buffers.forKeeping(room);
        target.writeBytes(buffer);
        buffer.release();
        pending = target;
    }

    // --- the end after an error

    /**
     * Tells the client that nothing more comes, and drops what it still sends until it closes: a socket that is closed with
     * unread bytes resets the connection, and the client may never see the error.
     */
    private void lingerThenClose() {
        if (!channel.isActive()) {
            return;
        }
        lingerBytes = LINGER_BYTES;
        lingerUntilMillis = server.ticker().wallMillis() + LINGER_MILLIS;
        ((DuplexChannel) channel).shutdownOutput();
        channel.config().setAutoRead(true);
    }

    private void linger(int bytes) {
        lingerBytes -= bytes;
        if (lingerUntilMillis != 0 && lingerBytes < 0) {
            channel.close();
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (!closed && !inTurn && client != null && channel.isWritable()) {
            goOn();
        }
    }

    /** Applies the soft output limit and the idle timeout; called about once a second. */
    void check(long nowMillis) {
        if (lingerUntilMillis != 0 && nowMillis >= lingerUntilMillis) {
            channel.close();
        }
        Client me = client;
        if (closed || me == null) {
            return;
        }
        OutputBufferLimits limits = server.config().outputBufferLimits();
        if (limits.normalSoftBytes() > 0 && outgoingBytes() > limits.normalSoftBytes()) {
            if (overSoftLimitSinceMillis == 0) {
                overSoftLimitSinceMillis = nowMillis;
            } else if (nowMillis - overSoftLimitSinceMillis > limits.normalSoftSeconds() * 1000) {
                LOG.warn("Connection {} is closed: it was over the soft output limit for too long",
                        channel.remoteAddress());
                channel.close();
            }
        } else {
            overSoftLimitSinceMillis = 0;
        }
        long timeoutMillis = server.config().number("timeout") * 1000;
        if (timeoutMillis > 0 && waiting == null && nowMillis - me.lastInteractionMillis() > timeoutMillis) {
            LOG.debug("Connection {} is closed: idle", channel.remoteAddress());
            channel.close();
        }
    }

    // --- Connection, for any thread

    @Override
    public void kill() {
        channel.close();
    }

    @Override
    public long outgoingBytes() {
        var buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }

    @Override
    public long incomingBytes() {
        return incomingBytes;
    }

    @Override
    public long incomingCapacityBytes() {
        return incomingCapacityBytes;
    }

    @Override
    public int fileDescriptor() {
        return switch (channel) {
            case EpollSocketChannel epoll -> epoll.fd().intValue();
            case IoUringSocketChannel uring -> uring.fd().intValue();
            default -> -1;
        };
    }

    private static String text(@Nullable SocketAddress address) {
        if (address instanceof InetSocketAddress inet) {
            String host = inet.getAddress().getHostAddress();
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + inet.getPort();
        }
        return "?:0";
    }
}
