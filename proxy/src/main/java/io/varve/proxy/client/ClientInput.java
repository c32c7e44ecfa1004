package io.varve.proxy.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.memory.item.ValueRun;
import io.varve.server.resp.LargeBulks;
import io.varve.server.resp.RequestDecoder;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * The received bytes of a client, and the request at their beginning. Confined to the client's event loop.
 *
 * <p>Requests on their way to members are slices of these bytes. So a buffer never moves or grows: if it has no more
 * space, its rest is copied to another one.
 */
final class ClientInput {
    private static final int MIN_BYTES = 512;
    /** All bulks stay in the buffer. */
    private static final LargeBulks NONE = new LargeBulks() {
        @Override
        public int thresholdBytes() {
            return Integer.MAX_VALUE;
        }

        @Override
        public @Nullable ValueRun open(Earlier earlier, int longestArgument, int length) {
            return null;
        }
    };

    private final ByteBufAllocator allocator;
    private final RequestDecoder decoder;
    private final Request request = new Request();
    private final int maxBytes;
    private @Nullable ByteBuf bytes;

    /**
     * @param maxBulkBytes proto-max-bulk-len
     * @param maxBytes client-query-buffer-limit
     */
    ClientInput(ByteBufAllocator allocator, RequestHeapBudget heap, long maxBulkBytes, int maxBytes) {
        this.allocator = allocator;
        this.maxBytes = maxBytes;
        decoder = new RequestDecoder(NONE, heap, maxBulkBytes);
    }

    /** Takes over received bytes. @return false if they exceed the limit */
    boolean receive(ByteBuf input) {
        ByteBuf received = input.hasMemoryAddress() ? input : offHeap(input);
        ByteBuf held = bytes;
        if (held == null || !held.isReadable()) {
            if (held != null) {
                held.release();
            }
            bytes = received;
            return true;
        }
        try {
            int total = held.readableBytes() + received.readableBytes();
            if (total > maxBytes || decoder.neededBytes() > maxBytes) {
                return false;
            }
            if (held.writableBytes() < received.readableBytes() || held.refCnt() > 1) {
                long needed = Math.max(decoder.neededBytes(), total);
                ByteBuf larger = allocator
                        .directBuffer(Math.clamp(Math.max(needed, 2L * total), MIN_BYTES, maxBytes));
                larger.writeBytes(held, held.readerIndex(), held.readableBytes());
                held.release();
                bytes = larger;
                held = larger;
            }
            held.writeBytes(received);
            return true;
        } finally {
            received.release();
        }
    }

    /** The decryption of TLS fills buffers on the heap. */
    private ByteBuf offHeap(ByteBuf received) {
        try {
            return allocator.directBuffer(received.readableBytes()).writeBytes(received);
        } finally {
            received.release();
        }
    }

    /** Decodes the next request. @return whether there is a complete one, which {@link #request} then holds */
    boolean next(boolean authenticated) {
        ByteBuf input = bytes;
        if (input == null || !input.isReadable()) {
            return false;
        }
        decoder.authenticated(authenticated);
        int from = input.readerIndex();
        int reached = decoder.decode(input.memoryAddress(), from, input.writerIndex(), Integer.MAX_VALUE, request);
        if (request.isComplete()) {
            request.take(input, from, reached, allocator);
        }
        input.readerIndex(reached);
        return request.isComplete();
    }

    Request request() {
        return request;
    }

    /** The request was handled. */
    void handled() {
        request.clear();
        decoder.executed();
    }

    /** The protocol error, once all requests before it are decoded; null if there is none. */
    @Nullable
    String error() {
        return decoder.error();
    }

    /** Bytes that wait to be decoded. */
    int waitingBytes() {
        return bytes == null ? 0 : bytes.readableBytes();
    }

    void close() {
        request.clear();
        decoder.close();
        if (bytes != null) {
            bytes.release();
            bytes = null;
        }
    }
}
