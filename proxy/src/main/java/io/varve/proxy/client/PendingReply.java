package io.varve.proxy.client;

import io.netty.buffer.ByteBuf;
import io.varve.proxy.merge.WriteStamps;
import io.varve.proxy.resp.ReplyTarget;
import org.jspecify.annotations.Nullable;

/**
 * The place of a reply in the order of a client's replies. Confined to the client's event loop.
 *
 * <p>Members answer in any order. A reply is written once all replies before it are.
 */
final class PendingReply implements ReplyTarget {
    private final ClientConnection client;
    private WriteStamps.@Nullable Write write;
    private @Nullable ByteBuf reply;
    private boolean isTimed;
    private boolean isTaken;
    private long takenNanos;

    PendingReply(ClientConnection client) {
        this.client = client;
    }

    /** The reply ends this write. */
    PendingReply ends(WriteStamps.@Nullable Write ended) {
        write = ended;
        return this;
    }

    /** Notes when it, and so each reply before it, is on its way to the client. */
    void time() {
        isTimed = true;
        takenNanos = System.nanoTime();
    }

    /** Whether a {@linkplain #time timed} reply is on its way to the client for longer than this. */
    boolean isOlderThan(long nanos) {
        return isTaken && System.nanoTime() - takenNanos > nanos;
    }

    @Override
    public void accept(ByteBuf taken) {
        // Before the client can send a read that depends on the write.
        if (write != null) {
            write.end();
            write = null;
        }
        if (client.isClosed()) {
            taken.release();
        } else {
            reply = taken;
            client.completed(taken.readableBytes());
        }
    }

    boolean isDone() {
        return reply != null;
    }

    /** Gives the reply to the caller. */
    ByteBuf take() {
        ByteBuf taken = java.util.Objects.requireNonNull(reply);
        reply = null;
        isTaken = true;
        if (isTimed) {
            takenNanos = System.nanoTime();
        }
        return taken;
    }

    /** The client is gone. */
    void drop() {
        if (reply != null) {
            reply.release();
            reply = null;
        }
    }
}
