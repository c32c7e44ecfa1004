package io.varve.server.net;

import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.varve.server.admin.LoopCounters;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.Client;
import io.varve.server.config.OutputBufferLimits;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.replication.Feed;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RunBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The outbound side of one connection: replies, the messages in its client's inbox, and the feed of a replica.
 * Confined to its event loop. It disconnects a client for which too much is pending.
 *
 * <p>Messages stay in the inbox, on the heap, until the channel has written the earlier ones; so a slow subscriber gets
 * many at a time, in few buffers. Once {@link #MOVED_BYTES} are waiting, they move into the channel's buffers
 * regardless. Those are charged to maxmemory, so the heap holds little for a client that does not read. The connection
 * ends when it exceeds the output limits, or when others need that memory.
 */
// A failed write shows as channelInactive, which cleans up: no caller needs its future.
@SuppressWarnings("FutureReturnValueIgnored")
final class Outgoing {
    private static final Logger LOG = LoggerFactory.getLogger(Outgoing.class);

    /** Up to this size, messages wait for the channel. */
    private static final int MOVED_BYTES = 16 << 10;
    /** Maximum message bytes written before other connections get a turn. */
    private static final int BATCH_BYTES = 256 << 10;
    /** The size of the buffers that are filled from the feed of a replica. */
    private static final int FEED_BYTES = 64 << 10;
    /** If there was no memory for a message, at least this much is reclaimed. */
    private static final long MIN_FREED_BYTES = 1 << 20;

    /** The connection, which ends because of its output. */
    interface Owner {
        /** The output limits are exceeded: the owner closes the connection. */
        void disconnect();

        /** A write failed: the owner closes the connection. */
        void failed(Throwable cause);

        /** Replies have left that had to wait for the log. */
        void released();
    }

    private final ServerState server;
    private final Channel channel;
    private final Worker worker;
    private final Client client;
    private final Subscriptions subscriptions;
    private final ConnectionBuffers buffers;
    private final Owner owner;
    private final Consumer<ByteBuf> pieceWriter = this::writePiece;
    private final Runnable deliveryTask = this::continueDelivery;
    private final Runnable feedTask = this::continueFeed;
    private final ChannelFutureListener deliveryWritten = _ -> deliveryWritten();
    /** The last of several pieces, which is written in another way than the earlier ones. */
    private @Nullable ByteBuf lastPiece;
    /** Whether messages were written that the channel has not flushed yet. */
    private boolean deliveryInFlight;
    private boolean deliveryScheduled;
    private @Nullable Feed feed;
    private boolean ended;
    /** Whether replies wait for the log: for the client's last change when they began to. */
    private boolean isHeld;
    private long heldOffset;
    private boolean draining;
    private @Nullable Runnable afterFlush;
    private long overSoftLimitSinceMillis;

    Outgoing(ServerState server, ConnectionBuffers buffers, Channel channel, Worker worker, Client client,
            Owner owner) {
        this.server = server;
        this.buffers = buffers;
        this.channel = channel;
        this.worker = worker;
        this.client = client;
        this.owner = owner;
        subscriptions = client.subscriptions();
    }

    /** Stops further output except the connection's own. */
    void end() {
        ended = true;
    }

    // --- replies

    /** Writes the whole reply. May disconnect the client. */
    void write(ReplyWriter reply) {
        write(reply, false);
    }

    private void write(ReplyWriter reply, boolean withMessages) {
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
        if (last != null && withMessages && !deliveryInFlight) {
            deliveryInFlight = true;
            channel.write(last, channel.newPromise().addListener(deliveryWritten));
        } else if (last != null) {
            channel.write(last, channel.voidPromise());
        }
        flush();
        disconnectOverHardLimit();
    }

    // --- replies that wait for the log

    /**
     * Sends what was written, once the change stream is durable up to the client's last change. Until then later
     * replies collect behind it. If there are changes among those, no further command runs before they have left.
     */
    private void flush() {
        long offset = client.repliesAfter();
        if (server.log().isDurable(offset)) {
            if (client.isServedUnderLease() && !mayAcknowledge()) {
                return;
            }
            channel.flush();
            draining = false;
            Runnable last = afterFlush;
            if (last != null) {
                afterFlush = null;
                last.run();
            }
        } else if (!isHeld && channel.isOpen()) {
            isHeld = true;
            heldOffset = offset;
            worker.heldReplies().hold(this);
        }
    }

    /**
     * Whether the replies to commands on keys may leave. If the lease of this member of a cluster has ended, another
     * one may already serve the keys: then the connection ends, and the client does not learn the outcome.
     */
    private boolean mayAcknowledge() {
        ClusterState cluster = server.cluster();
        if (cluster != null && !cluster.hasLease()) {
            LOG.debug("Connection {} is closed: the lease has ended before its replies have left",
                    channel.remoteAddress());
            disconnect();
            return false;
        }
        client.servedUnderLease(false);
        return true;
    }

    /** The offset of the change stream that the replies wait for. */
    long heldOffset() {
        return heldOffset;
    }

    /** Whether replies wait for the log. */
    boolean isHeld() {
        return isHeld;
    }

    /** The channel is closed: its replies wait for nothing. */
    void dropHeld() {
        worker.heldReplies().drop(this);
    }

    /** Whether no further command may run before the replies to earlier ones have left. */
    boolean isDraining() {
        return draining;
    }

    /** Runs an action after the last replies have been handed to the channel, perhaps at once. */
    void afterFlush(Runnable action) {
        afterFlush = action;
        flush();
    }

    /** The log is durable up to {@link #heldOffset}. */
    void release() {
        draining = true;
        isHeld = false;
        flush();
        if (!draining) {
            owner.released();
        }
    }

    private void writePiece(ByteBuf piece) {
        ByteBuf before = lastPiece;
        lastPiece = channel.isWritable() ? piece : compact(piece);
        if (before != null) {
            channel.write(before, channel.voidPromise());
        }
    }

    /** Replaces a much larger buffer of output that will be pending for long. */
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

    // --- the feed of a replica

    /** From now on the connection sends what the feed has. */
    void feed(Feed source) {
        feed = source;
    }

    /** The task that the event loop runs when the feed has bytes. */
    Runnable feedTask() {
        return feedTask;
    }

    /** Writes what the feed has, as long as the client reads it. */
    private void continueFeed() {
        Feed source = feed;
        if (source == null || ended || !channel.isOpen()) {
            return;
        }
        source.begin();
        int written = 0;
        int read = 1;
        try {
            while (read > 0 && channel.isWritable() && written < BATCH_BYTES) {
                read = writeFrom(source);
                written += Math.max(read, 0);
            }
        } catch (NoBufferException | OutOfMemoryError none) {
            ended = true;
            owner.failed(none);
            return;
        }
        if (written > 0) {
            worker.dispatcher().counters().add(LoopCounters.Total.OUTPUT_BYTES, written);
            worker.dispatcher().counters().add(LoopCounters.Total.WRITES, 1);
            channel.flush();
        }
        if (read == Feed.END) {
            ended = true;
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        } else if (read > 0 && channel.isWritable()) {
            channel.eventLoop().execute(feedTask);
        }
    }

    private int writeFrom(Feed source) {
        ByteBuf piece = buffers.directBuffer(FEED_BYTES);
        int read = 0;
        try {
            read = source.read(piece.memoryAddress(), piece.capacity());
            if (read > 0) {
                piece.writerIndex(read);
                channel.write(compact(piece.retain()), channel.voidPromise());
            }
        } finally {
            piece.release();
        }
        return read;
    }

    // --- messages

    /** Schedules the writing of messages, if there are any. */
    void scheduleDelivery() {
        if (!deliveryScheduled && !ended && subscriptions.hasPendingMessages()) {
            deliveryScheduled = true;
            channel.eventLoop().execute(deliveryTask);
        }
    }

    /** The task that the event loop runs when messages arrive. */
    Runnable deliveryTask() {
        return deliveryTask;
    }

    private boolean canDeliver() {
        return !deliveryInFlight && channel.isWritable() || subscriptions.waitingBytes() >= MOVED_BYTES;
    }

    private void continueDelivery() {
        deliveryScheduled = false;
        subscriptions.beginDelivery();
        if (ended || !channel.isOpen()) {
            return;
        }
        if (!canDeliver()) {
            // Writing resumes after the channel's flush, or when more messages have arrived.
            disconnectOverHardLimit();
            return;
        }
        if (!buffers.beginDelivery(!channel.isWritable())) {
            LOG.warn(
                    "Connection {} is closed: it does not read, and no memory remains beyond its {} bytes of"
                            + " pending output",
                    channel.remoteAddress(), client.outgoingBytes());
            disconnect();
            return;
        }
        try {
            deliver(worker.reply());
        } finally {
            buffers.endDelivery();
        }
        if (!ended && canDeliver()) {
            scheduleDelivery();
        }
    }

    private void deliver(ReplyWriter reply) {
        try {
            reply.protocol(client.protocol());
            writeMessages(reply);
            write(reply, true);
        } catch (Throwable fatal) {
            // Out of memory for buffers, or a bug: this connection ends, the others continue.
            ended = true;
            reply.close();
            owner.failed(fatal);
        }
    }

    private void writeMessages(ReplyWriter reply) {
        try {
            writeSome(reply);
        } catch (NoBufferException none) {
            if (!none.isRecoverable() || !server.cache().admit(Math.max(MIN_FREED_BYTES, 2 * none.bytes()))) {
                throw none;
            }
            writeSome(reply);
        }
    }

    private void writeSome(ReplyWriter reply) {
        boolean more = true;
        while (more && reply.pendingBytes() < BATCH_BYTES) {
            more = subscriptions.writeNext(reply);
        }
    }

    private void deliveryWritten() {
        deliveryInFlight = false;
        scheduleDelivery();
    }

    // --- limits

    private void disconnectOverHardLimit() {
        long hard = server.config().outputBufferLimits().hardBytes(client.hasMessages());
        if (hard > 0 && client.outgoingBytes() > hard) {
            LOG.warn("Connection {} is closed: it does not read its {} bytes of pending output",
                    channel.remoteAddress(),
                    client.outgoingBytes());
            disconnectOverLimit();
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
            LOG.warn("Connection {} is closed: it exceeded the soft output limit for too long",
                    channel.remoteAddress());
            disconnectOverLimit();
        }
    }

    private void disconnectOverLimit() {
        server.lifecycle().clients().countOverOutputLimit();
        disconnect();
    }

    private void disconnect() {
        ended = true;
        owner.disconnect();
    }
}
