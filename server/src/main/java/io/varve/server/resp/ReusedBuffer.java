package io.varve.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.jspecify.annotations.Nullable;

/**
 * A direct buffer that an event loop uses again and again: most are done with before the next is asked for. Who keeps it for
 * longer (an unfinished request, a client that does not read) keeps it for good, and the next gets another. Confined to its
 * event loop.
 */
public final class ReusedBuffer implements AutoCloseable {
    private final ByteBufAllocator allocator;
    private final int bytes;
    /** Held by us once; whoever else holds it still uses it. */
    private @Nullable ByteBuf buffer;

    /** @param bytes of each buffer */
    public ReusedBuffer(ByteBufAllocator allocator, int bytes) {
        this.allocator = allocator;
        this.bytes = bytes;
    }

    public int capacity() {
        return bytes;
    }

    /** An empty buffer that the caller releases, be it later and on another thread. */
    public ByteBuf take() {
        ByteBuf last = buffer;
        if (last != null && last.refCnt() == 1) {
            return last.clear().retain();
        }
        // Where none is to be had, the one that somebody keeps comes back to us one day.
        ByteBuf fresh = allocator.directBuffer(bytes);
        close();
        buffer = fresh;
        return fresh.retain();
    }

    /** Lets go of it; what was taken stays with its taker. */
    @Override
    public void close() {
        ByteBuf last = buffer;
        buffer = null;
        if (last != null) {
            last.release();
        }
    }
}
