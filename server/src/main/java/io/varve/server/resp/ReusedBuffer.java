package io.varve.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * A direct buffer that an event loop reuses: most users release it before the next one needs it. Confined to its
 * event loop. A user that keeps it longer (an unfinished request, a client that does not read) keeps it for good, and
 * the next user gets another.
 */
public final class ReusedBuffer implements AutoCloseable {
    private final ByteBufAllocator allocator;
    private final int bytes;
    /** Retained once by this object; further references are users'. */
    private @Nullable ByteBuf buffer;

    /** @param bytes size of each buffer */
    public ReusedBuffer(ByteBufAllocator allocator, int bytes) {
        this.allocator = allocator;
        this.bytes = bytes;
    }

    public int capacity() {
        return bytes;
    }

    /** Returns an empty buffer, which the caller releases, possibly later and on another thread. */
    public ByteBuf take() {
        ByteBuf last = buffer;
        if (last != null && last.refCnt() == 1) {
            return last.clear().retain();
        }
        // If the allocation fails, the buffer that a user keeps can be reused later.
        ByteBuf fresh = allocator.directBuffer(bytes);
        close();
        buffer = fresh;
        return fresh.retain();
    }

    /** Releases the buffer; buffers in use stay with their users. */
    @Override
    public void close() {
        ByteBuf last = buffer;
        buffer = null;
        if (last != null) {
            last.release();
        }
    }
}
