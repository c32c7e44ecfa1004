package io.varve.server.net;

import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.memory.offheap.Memory;

/**
 * Requests of equal length, encoded once and sent repeatedly: enough of them that their keys do not stay in a
 * processor's cache. Confined to one thread.
 */
final class EncodedRequests implements AutoCloseable {
    private static final int REQUESTS = 1 << 19;

    private final ByteBuf requests;
    private final int requestBytes;
    private int next;
    /** The size of a reply, the same for all requests; 0 before the first. */
    private long replyBytes;

    /**
     * @param request the encoded request for a key's number
     * @param keys draws the numbers
     */
    EncodedRequests(IntFunction<String> request, IntSupplier keys) {
        requestBytes = request.apply(0).length();
        requests = Unpooled.directBuffer(REQUESTS * requestBytes);
        for (int i = 0; i < REQUESTS; i++) {
            requests.writeCharSequence(request.apply(keys.getAsInt()), StandardCharsets.US_ASCII);
        }
        if (requests.writerIndex() != REQUESTS * requestBytes) {
            throw new IllegalStateException("The requests are not of one length");
        }
    }

    /** Sends the next requests, as many as the pipeline is long: a power of two. @return bytes of the replies */
    long send(EmbeddedConnection connection, int pipeline) {
        int bytes = pipeline * requestBytes;
        ByteBuf in = connection.newBuffer(bytes);
        Memory.copy(requests.memoryAddress() + (long) next * requestBytes, in.memoryAddress(), bytes);
        in.writerIndex(bytes);
        next = next + pipeline & REQUESTS - 1;
        if (replyBytes == 0) {
            replyBytes = connection.exchange(in, 1) / pipeline;
            return replyBytes * pipeline;
        }
        return connection.exchange(in, pipeline * replyBytes);
    }

    @Override
    public void close() {
        requests.release();
    }
}
