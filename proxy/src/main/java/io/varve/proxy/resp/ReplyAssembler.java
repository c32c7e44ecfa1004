package io.varve.proxy.resp;

import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;

/**
 * Cuts the bytes of a member into replies. Confined to the event loop of its connection.
 *
 * <p>A reply is a slice of the received buffer. A reply in several buffers becomes a composite of slices, so no byte is
 * copied.
 */
public final class ReplyAssembler {
    private final ByteBufAllocator allocator;
    private final long maxBytes;
    private final ReplyScanner scanner = new ReplyScanner();
    private final List<ByteBuf> pieces = new ArrayList<>();
    private long pieceBytes;
    private boolean closed;

    /** Receives each reply, and takes it over. */
    @FunctionalInterface
    public interface Taker {
        void reply(ByteBuf reply);
    }

    /** @param maxBytes maximum size of a reply */
    public ReplyAssembler(ByteBufAllocator allocator, long maxBytes) {
        this.allocator = allocator;
        this.maxBytes = maxBytes;
    }

    /**
     * Takes over received bytes, and passes on the replies that are complete. The taker may close this object.
     *
     * @throws MalformedReplyException if the bytes are no reply, or if a reply is too long
     */
    public void receive(ByteBuf received, Taker taker) {
        try {
            int at = received.readerIndex();
            int to = received.writerIndex();
            while (at < to && !closed) {
                int end = scanner.scan(received, at, to);
                if (end < 0) {
                    keep(received.slice(at, to - at).retain());
                    return;
                }
                // It shares the buffer's reference count: retainedSlice would create one more.
                ByteBuf last = received.slice(at, end - at).retain();
                at = end;
                taker.reply(pieces.isEmpty() ? last : joined(last));
            }
        } finally {
            received.release();
        }
    }

    private void keep(ByteBuf piece) {
        pieces.add(piece);
        pieceBytes += piece.readableBytes();
        if (pieceBytes > maxBytes) {
            throw new MalformedReplyException("a reply has more than " + maxBytes + " bytes");
        }
    }

    private ByteBuf joined(ByteBuf last) {
        CompositeByteBuf reply = allocator.compositeBuffer(pieces.size() + 1);
        reply.addComponents(true, pieces);
        reply.addComponent(true, last);
        pieces.clear();
        pieceBytes = 0;
        return reply;
    }

    /** Releases the pieces of an incomplete reply. */
    public void close() {
        closed = true;
        pieces.forEach(ByteBuf::release);
        pieces.clear();
    }
}
