package io.varve.server.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.util.UncheckedBooleanSupplier;
import io.varve.server.resp.ReusedBuffer;

/**
 * Chooses a connection's receive buffer: the event loop's reused buffer for small reads, a buffer of the read's size
 * for large ones. Confined to the event loop.
 *
 * @param sizes predicts the size of a read from earlier ones
 */
record ReusingReceive(RecvByteBufAllocator sizes, ReusedBuffer buffer) implements RecvByteBufAllocator {
    @Override
    public ExtendedHandle newHandle() {
        return new ReusingHandle((ExtendedHandle) sizes.newHandle(), buffer);
    }

    private record ReusingHandle(ExtendedHandle sizes, ReusedBuffer buffer) implements ExtendedHandle {
        @Override
        public ByteBuf allocate(ByteBufAllocator allocator) {
            return sizes.guess() <= buffer.capacity() ? buffer.take() : sizes.allocate(allocator);
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
