package io.varve.server.net;

import java.util.ArrayDeque;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.util.concurrent.Future;

/**
 * Passes replies to the encryption only as fast as the client reads them. Confined to its event loop, except {@link
 * #waitingBytes}.
 *
 * <p>SslHandler encrypts all its input at once into its own memory, even the gigabyte of a large reply whose pieces
 * only refer to their items. So this handler bounds the bytes that are passed on and not yet sent. Like a channel's own
 * buffer, it makes the channel unwritable while much is queued.
 */
final class TlsWriteThrottle extends ChannelDuplexHandler {
    /** Maximum plain bytes that are being encrypted and sent. */
    private static final int MAX_IN_FLIGHT_BYTES = 64 << 10;
    /** Maximum bytes of a TLS record. */
    private static final int PIECE_BYTES = 16 << 10;
    private static final int HIGH_BYTES = 256 << 10;
    private static final int LOW_BYTES = 32 << 10;
    /** This handler's bit among those that make a channel unwritable. */
    private static final int WRITABILITY_BIT = 1;

    private record PendingWrite(ByteBuf bytes, ChannelPromise promise) {}

    private final ArrayDeque<PendingWrite> queue = new ArrayDeque<>();
    /** Of the queue, how many writes may be sent: replies can wait for the log before they are flushed. */
    private int flushed;
    private int underway;
    private long waiting;
    private volatile long waitingBytes;
    private boolean pumping;
    private boolean pumpScheduled;

    /** Bytes that wait here, not yet encrypted. Any thread may call it. */
    long waitingBytes() {
        return waitingBytes;
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        ByteBuf bytes = (ByteBuf) message;
        queue.add(new PendingWrite(bytes, promise));
        waiting += bytes.readableBytes();
        notifyWaiting(ctx);
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        flushed = queue.size();
        if (!pump(ctx)) {
            ctx.flush();
        }
    }

    /** @return whether something was written, and flushed */
    private boolean pump(ChannelHandlerContext ctx) {
        if (pumping) {
            return false;
        }
        pumping = true;
        boolean wrote = false;
        try {
            while (underway < MAX_IN_FLIGHT_BYTES && flushed > 0) {
                writePiece(ctx);
                wrote = true;
            }
        } finally {
            pumping = false;
        }
        if (wrote) {
            ctx.flush();
        }
        notifyWaiting(ctx);
        return wrote;
    }

    // The promise receives the result.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void writePiece(ChannelHandlerContext ctx) {
        PendingWrite next = queue.element();
        int length = Math.min(next.bytes.readableBytes(), PIECE_BYTES);
        boolean last = length == next.bytes.readableBytes();
        ByteBuf piece = next.bytes;
        if (last) {
            queue.remove();
            flushed--;
        } else {
            piece = next.bytes.readRetainedSlice(length);
        }
        underway += length;
        waiting -= length;
        ChannelPromise sent = ctx.newPromise();
        sent.addListener(done -> sent(ctx, length, last ? next.promise : null, done));
        ctx.write(piece, sent);
    }

    private void sent(ChannelHandlerContext ctx, int length, @org.jspecify.annotations.Nullable ChannelPromise promise,
            Future<?> done) {
        underway -= length;
        if (promise != null && !promise.isVoid()) {
            if (done.isSuccess()) {
                promise.trySuccess();
            } else {
                promise.tryFailure(done.cause());
            }
        }
        if (flushed > 0 && !pumpScheduled) {
            // Runs later, not within the flush that has just completed a send.
            pumpScheduled = true;
            ctx.executor().execute(() -> {
                pumpScheduled = false;
                pump(ctx);
            });
        }
    }

    private void notifyWaiting(ChannelHandlerContext ctx) {
        waitingBytes = waiting;
        ChannelOutboundBuffer buffer = ctx.channel().unsafe().outboundBuffer();
        if (buffer == null) {
            return;
        }
        if (waiting > HIGH_BYTES) {
            buffer.setUserDefinedWritability(WRITABILITY_BIT, false);
        } else if (waiting <= LOW_BYTES) {
            buffer.setUserDefinedWritability(WRITABILITY_BIT, true);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        drop();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        drop();
    }

    private void drop() {
        for (PendingWrite left = queue.poll(); left != null; left = queue.poll()) {
            left.bytes.release();
            if (!left.promise.isVoid()) {
                left.promise.tryFailure(new java.nio.channels.ClosedChannelException());
            }
        }
        flushed = 0;
        waiting = 0;
        waitingBytes = 0;
    }
}
