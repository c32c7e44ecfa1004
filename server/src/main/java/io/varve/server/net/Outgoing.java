package io.varve.server.net;

import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.varve.server.admin.LoopCounters;
import io.varve.server.command.Client;
import io.varve.server.command.ServerContext;
import io.varve.server.config.OutputBufferLimits;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RunBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way out of one connection: what was replied, and the messages that wait in its client's inbox, as the channel takes them.
 * Confined to its event loop. A client for which too much waits is cut off.
 *
 * <p>Messages are gathered in the inbox, on the heap, until the channel has written those before them; so a listener that is slow gets
 * many at a time, in few buffers. Once {@link #MOVED_BYTES} wait they go into the channel's buffers all the same, which are charged to
 * maxmemory: the heap holds little for one who does not read. The limits end it, or that memory is needed for others.
 */
// A failed write shows as channelInactive, which cleans up: nobody needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class Outgoing {
    private static final Logger LOG = LoggerFactory.getLogger(Outgoing.class);

    /** Messages that are not kept waiting for the channel. */
    private static final int MOVED_BYTES = 16 << 10;
    /** What is written of messages before other connections have their turn. */
    private static final int TURN_BYTES = 256 << 10;
    /** Where there was none for a message, room for so much is made at least. */
    private static final long LEAST_ROOM_BYTES = 1 << 20;

    /** What the connection is told when it ends because of what goes out. */
    interface Owner {
        /** Too much waits to be written, or for too long: the connection is to be closed. */
        void cutOff();

        /** Writing failed: the connection is to be closed. */
        void failed(Throwable cause);
    }

    private final ServerContext server;
    private final Channel channel;
    private final Worker worker;
    private final Client client;
    private final Subscriptions mail;
    private final ConnectionBuffers buffers;
    private final Owner owner;
    private final Consumer<ByteBuf> pieceWriter = this::writePiece;
    private final Runnable mailTurn = this::goOnWithMail;
    private final ChannelFutureListener mailWritten = _ -> mailWritten();
    /** The last of several pieces is written in another way than those before it. */
    private @Nullable ByteBuf lastPiece;
    /** Whether messages were written that the channel has not taken yet. */
    private boolean mailUnderWay;
    private boolean mailScheduled;
    private boolean ended;
    private long overSoftLimitSinceMillis;

    Outgoing(ServerContext server, ConnectionBuffers buffers, Channel channel, Worker worker, Client client,
            Owner owner) {
        this.server = server;
        this.buffers = buffers;
        this.channel = channel;
        this.worker = worker;
        this.client = client;
        this.owner = owner;
        mail = client.subscriptions();
    }

    /** Nothing more is to be written but by the connection itself. */
    void end() {
        ended = true;
    }

    // --- replies

    /** Writes out all that has been written into the reply. May cut the client off. */
    void write(ReplyWriter reply) {
        write(reply, false);
    }

    private void write(ReplyWriter reply, boolean withMail) {
        long bytes = reply.pendingBytes();
        if (bytes == 0) {
            reply.take(_ -> {});
            return;
        }
        LoopCounters counters = worker.dispatcher().counters();
        counters.add(LoopCounters.Total.OUTPUT_BYTES, bytes);
        counters.add(LoopCounters.Total.WRITES, 1);
        reply.take(pieceWriter);
        ByteBuf last = lastPiece;
        lastPiece = null;
        if (last != null && withMail && !mailUnderWay) {
            mailUnderWay = true;
            channel.write(last, channel.newPromise().addListener(mailWritten));
        } else if (last != null) {
            channel.write(last, channel.voidPromise());
        }
        channel.flush();
        cutOffOverHardLimit();
    }

    private void writePiece(ByteBuf piece) {
        ByteBuf before = lastPiece;
        lastPiece = channel.isWritable() ? piece : compact(piece);
        if (before != null) {
            channel.write(before, channel.voidPromise());
        }
    }

    /** What will wait for long does not hold a buffer that is much larger. */
    private ByteBuf compact(ByteBuf piece) {
        int bytes = piece.readableBytes();
        if (piece instanceof RunBuffer || bytes > piece.capacity() / 2) {
            return piece;
        }
        try {
            ByteBuf small = buffers.directBuffer(bytes);
            small.writeBytes(piece);
            piece.release();
            return small;
        } catch (NoBufferException none) {
            return piece;
        }
    }

    // --- messages

    /** Writes messages soon, if there are any. */
    void scheduleMail() {
        if (!mailScheduled && !ended && mail.hasMail()) {
            mailScheduled = true;
            channel.eventLoop().execute(mailTurn);
        }
    }

    /** What is to run on the event loop when messages came. */
    Runnable mailTurn() {
        return mailTurn;
    }

    private boolean mayWriteMail() {
        return !mailUnderWay && channel.isWritable() || mail.waitingBytes() >= MOVED_BYTES;
    }

    private void goOnWithMail() {
        mailScheduled = false;
        mail.looksIntoMail();
        if (ended || !channel.isOpen()) {
            return;
        }
        if (!mayWriteMail()) {
            // It goes on once the channel has written what it has, or more have come.
            cutOffOverHardLimit();
            return;
        }
        if (!buffers.beginDelivery(!channel.isWritable())) {
            LOG.warn(
                    "Connection {} is closed: it does not read, and there is no memory for more than the {} bytes that wait for it",
                    channel.remoteAddress(), client.outgoingBytes());
            cutOff();
            return;
        }
        try {
            deliver(worker.reply());
        } finally {
            buffers.endDelivery();
        }
        if (!ended && mayWriteMail()) {
            scheduleMail();
        }
    }

    private void deliver(ReplyWriter reply) {
        try {
            reply.protocol(client.protocol());
            writeMessages(reply);
            write(reply, true);
        } catch (Throwable fatal) {
            // Out of memory for buffers, or a bug: this connection ends, the others go on.
            ended = true;
            reply.close();
            owner.failed(fatal);
        }
    }

    private void writeMessages(ReplyWriter reply) {
        try {
            writeSome(reply);
        } catch (NoBufferException none) {
            if (!none.roomHelps() || !server.cache().admit(Math.max(LEAST_ROOM_BYTES, 2 * none.bytes()))) {
                throw none;
            }
            writeSome(reply);
        }
    }

    private void writeSome(ReplyWriter reply) {
        boolean more = true;
        while (more && reply.pendingBytes() < TURN_BYTES) {
            more = mail.writeNext(reply);
        }
    }

    private void mailWritten() {
        mailUnderWay = false;
        scheduleMail();
    }

    // --- limits

    private void cutOffOverHardLimit() {
        long hard = server.config().outputBufferLimits().hardBytes(client.hasMessages());
        if (hard > 0 && client.outgoingBytes() > hard) {
            LOG.warn("Connection {} is closed: it does not read, and {} bytes wait for it", channel.remoteAddress(),
                    client.outgoingBytes());
            cutOffOverLimit();
        }
    }

    /** Applies the soft limit; called about once a second. */
    void check(long nowMillis) {
        OutputBufferLimits limits = server.config().outputBufferLimits();
        boolean listening = client.hasMessages();
        long soft = limits.softBytes(listening);
        if (soft == 0 || client.outgoingBytes() <= soft) {
            overSoftLimitSinceMillis = 0;
        } else if (overSoftLimitSinceMillis == 0) {
            overSoftLimitSinceMillis = nowMillis;
        } else if (nowMillis - overSoftLimitSinceMillis > limits.softSeconds(listening) * 1000) {
            LOG.warn("Connection {} is closed: it was over the soft output limit for too long",
                    channel.remoteAddress());
            cutOffOverLimit();
        }
    }

    private void cutOffOverLimit() {
        server.clients().countOverOutputLimit();
        cutOff();
    }

    private void cutOff() {
        ended = true;
        owner.cutOff();
    }
}
