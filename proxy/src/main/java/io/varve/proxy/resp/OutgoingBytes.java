package io.varve.proxy.resp;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The output of one channel: short pieces are copied into one buffer, long ones are written as they are. Confined to
 * the channel's event loop.
 *
 * <p>A system call for a hundred slices of twenty bytes costs more than the copy. The copy also lets go of the large
 * buffer that a short piece is a slice of.
 */
public final class OutgoingBytes {
    private static final int CHUNK_BYTES = 16 << 10;
    /** A longer piece is not copied. */
    private static final int MAX_COPIED_BYTES = 2 << 10;

    private final Channel channel;
    private @Nullable ByteBuf chunk;
    private long unflushedBytes;

    public OutgoingBytes(Channel channel) {
        this.channel = channel;
    }

    /** Adds a piece and takes it over. */
    // A void promise passes a failure to the pipeline, whose handler closes the channel.
    @SuppressWarnings("FutureReturnValueIgnored")
    public void add(ByteBuf piece) {
        int length = piece.readableBytes();
        unflushedBytes += length;
        if (length > MAX_COPIED_BYTES) {
            writeChunk();
            channel.write(piece, channel.voidPromise());
        } else {
            copy(piece, length);
            piece.release();
        }
    }

    /** Adds a piece that the caller keeps. */
    public void addShared(ByteBuf piece) {
        int length = piece.readableBytes();
        if (length > MAX_COPIED_BYTES) {
            add(piece.retainedDuplicate());
        } else {
            unflushedBytes += length;
            copy(piece, length);
        }
    }

    private void copy(ByteBuf piece, int length) {
        ByteBuf target = chunk;
        if (target != null && target.writableBytes() < length) {
            writeChunk();
            target = null;
        }
        if (target == null) {
            target = channel.alloc().directBuffer(CHUNK_BYTES, CHUNK_BYTES);
            chunk = target;
        }
        int at = target.writerIndex();
        if (piece.hasMemoryAddress()) {
            Memory.copy(piece.memoryAddress() + piece.readerIndex(), target.memoryAddress() + at, length);
            target.writerIndex(at + length);
        } else {
            target.writeBytes(piece, piece.readerIndex(), length);
        }
    }

    // As in add.
    @SuppressWarnings("FutureReturnValueIgnored")
    private void writeChunk() {
        ByteBuf written = chunk;
        if (written != null) {
            chunk = null;
            channel.write(written, channel.voidPromise());
        }
    }

    /** Bytes added since the last {@link #flush}. */
    public long unflushedBytes() {
        return unflushedBytes;
    }

    /** Passes everything to the channel. */
    public void flush() {
        if (unflushedBytes > 0) {
            writeChunk();
            unflushedBytes = 0;
            channel.flush();
        }
    }

    /** Drops what was not flushed. */
    public void close() {
        if (chunk != null) {
            chunk.release();
            chunk = null;
        }
        unflushedBytes = 0;
    }
}
