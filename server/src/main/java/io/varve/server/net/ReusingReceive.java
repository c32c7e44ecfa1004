package io.varve.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import io.varve.server.resp.NoBufferException;
import io.varve.server.resp.ReusedBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Chooses a connection's receive buffer: the event loop's reused buffer for small reads, a buffer of the read's size
 * for large ones. While there is no memory for those, the connection reads in smaller pieces; it is not closed.
 * Confined to the event loop.
 *
 * @param sizes predicts the size of a read from earlier ones
 * @param buffer the reused buffer; null: each read has its own
 */
record ReusingReceive(RecvByteBufAllocator sizes, @Nullable ReusedBuffer buffer) implements RecvByteBufAllocator {
    /** Buffers up to this size need no memory beside the pools. */
    private static final int SMALL_BYTES = 512;
    /** A refused buffer is requested again with this fraction of its size. */
    private static final int SHRINK = 4;

    @Override
    public ExtendedHandle newHandle() {
        return new ReusingHandle((ExtendedHandle) sizes.newHandle(), buffer);
    }

    private record ReusingHandle(ExtendedHandle sizes, @Nullable ReusedBuffer buffer) implements ExtendedHandle {
        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            ReusedBuffer reused = buffer;
            int bytes = sizes.guess();
            try {
                return reused != null && bytes <= reused.capacity() ? reused.take() : sizes.allocate(allocator);
            } catch (NoBufferException none) {
                return smaller(allocator, bytes);
            }
        }

        /** @throws NoBufferException if there is no memory even for a small buffer */
        private static ByteBuf smaller(ByteBufAllocator allocator, int refusedBytes) {
            int bytes = refusedBytes / SHRINK;
            while (bytes > SMALL_BYTES) {
                try {
                    return allocator.ioBuffer(bytes);
                } catch (NoBufferException none) {
                    bytes /= SHRINK;
                }
            }
            return allocator.ioBuffer(SMALL_BYTES);
        }

        @Override
        public int guess() {
            return sizes.guess();
        }

        @SuppressWarnings("deprecation") // the interface still requires it
        @Override
        public void reset(io.netty.channel.ChannelConfig config) {
            sizes.reset(config);
        }

        @Override
        public void incMessagesRead(int messages) {
            sizes.incMessagesRead(messages);
        }

        @Override
        public void lastBytesRead(int bytes) {
            sizes.lastBytesRead(bytes);
        }

        @Override
        public int lastBytesRead() {
            return sizes.lastBytesRead();
        }

        @Override
        public void attemptedBytesRead(int bytes) {
            sizes.attemptedBytesRead(bytes);
        }

        @Override
        public int attemptedBytesRead() {
            return sizes.attemptedBytesRead();
        }

        @Override
        public boolean continueReading() {
            return sizes.continueReading();
        }

        @Override
        public boolean continueReading(UncheckedBooleanSupplier maybeMore) {
            return sizes.continueReading(maybeMore);
        }

        @Override
        public void readComplete() {
            sizes.readComplete();
        }
    }
}
