package io.varve.proxy.client;

import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;

/** Writes the replies that the proxy gives by itself. Confined to an event loop, whose clients share it. */
final class OwnReplies {
    private final ByteBufAllocator allocator;
    private final ReplyWriter writer;

    OwnReplies(ByteBufAllocator allocator, RequestHeapBudget heap) {
        this.allocator = allocator;
        writer = new ReplyWriter(allocator, heap);
    }

    /** A reply in a buffer of its own. */
    ByteBuf of(int protocol, Consumer<ReplyWriter> content) {
        writer.protocol(protocol);
        long begin = writer.mark();
        boolean isWritten = false;
        try {
            content.accept(writer);
            isWritten = true;
        } finally {
            if (!isWritten) {
                // What another reply would begin with otherwise.
                writer.rollback(begin);
            }
        }
        ByteBuf reply = allocator.directBuffer(Math.toIntExact(writer.pendingBytes()));
        writer.take(piece -> {
            reply.writeBytes(piece);
            piece.release();
        });
        return reply;
    }

    void close() {
        writer.close();
    }
}
