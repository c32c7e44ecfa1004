package io.varve.server.resp;

import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * The reply to a blocked client, written by the thread that has served it and sent by the client's event loop. Confined
 * to the thread that has it: it changes hands once. Its taker writes or releases it.
 */
public final class ServedReply {
    private final @Nullable String error;
    private final List<ByteBuf> pieces = new ArrayList<>(1);

    private ServedReply(@Nullable String error) {
        this.error = error;
    }

    /** An error in place of a reply. */
    public static ServedReply error(String text) {
        return new ServedReply(text);
    }

    /** Takes all output of a writer. */
    public static ServedReply of(ReplyWriter written) {
        ServedReply reply = new ServedReply(null);
        written.take(piece -> reply.pieces.add(compact(piece, written)));
        return reply;
    }

    /** Replaces a much larger buffer, because many clients may be served before their event loops send the replies. */
    private static ByteBuf compact(ByteBuf piece, ReplyWriter written) {
        int length = piece.readableBytes();
        if (length > piece.capacity() / 2) {
            return piece;
        }
        try {
            ByteBuf small = written.allocator.directBuffer(length);
            small.writeBytes(piece);
            piece.release();
            return small;
        } catch (NoBufferException none) {
            return piece;
        }
    }

    /** Writes the reply. It must not be used afterwards. */
    public void writeTo(ReplyWriter reply) {
        if (error != null) {
            reply.error(error);
        }
        pieces.forEach(reply::append);
    }

    /** Drops the reply. */
    public void release() {
        for (ByteBuf piece : pieces) {
            piece.release();
        }
    }
}
