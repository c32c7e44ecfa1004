package io.varve.server.resp;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Outgoing direct buffers, written by address. Confined to the event loop of its connection.
 *
 * <p>Output that does not fit the current buffer goes into a further one, so that written bytes are never copied again.
 * {@link #mark} and {@link #rollback} undo the output of a command. It is the base of {@link ReplyWriter} rather than a
 * part of it, so that the position is a field of the object that writes.
 */
abstract sealed class OutputBuffers implements AutoCloseable permits ReplyWriter {
    static final int CHUNK_BYTES = 16 << 10;
    /** A long reply uses larger chunks, of this fraction of its size, so that their number stays small. */
    private static final int CHUNK_PART = 16;
    private static final int MAX_CHUNK_BYTES = 1 << 20;
    /** After a large value, output continues in the current chunk if this many bytes of it are free. */
    private static final int MIN_REST_BYTES = 64;
    static final int CRLF = '\n' << Byte.SIZE | '\r';
    static final int CRLF_BYTES = 2;

    final ByteBufAllocator allocator;
    /** Most replies fit into it, and are flushed before the next one begins. */
    private final ReusedBuffer first;
    /** Output before the current buffer: complete buffers, and views of large values' runs. */
    private final List<ByteBuf> pieces = new ArrayList<>();
    /** Bytes in {@link #pieces}, and the copied ones among them. */
    private long finishedBytes;
    private long copiedBytes;
    private @Nullable ByteBuf buffer;
    private long start;
    long at;
    private long end;

    OutputBuffers(ByteBufAllocator allocator) {
        this.allocator = allocator;
        first = new ReusedBuffer(allocator, CHUNK_BYTES);
    }

    /** Adds a piece that is sent as it is, after the output so far. */
    final void addPiece(ByteBuf piece, int length) {
        cutBuffer();
        pieces.add(piece);
        finishedBytes += length;
    }

    /** Adds a buffer that another writer has written, after the output so far. Takes over the caller's reference. */
    final void append(ByteBuf written) {
        if (isValue(written)) {
            addPiece(written, written.readableBytes());
        } else {
            cutBuffer();
            pieces.add(written);
            finished(written.readableBytes());
        }
    }

    /** Ensures that this many bytes fit without another buffer, for replies that must not fail. */
    public final void reserve(int bytes) {
        ensure(bytes);
    }

    /** The position of the next byte; valid until {@link #take}. */
    public final long mark() {
        return (long) pieces.size() << 32 | (at - start);
    }

    /** Undoes all output since {@link #mark}, and releases its runs. */
    public final void rollback(long mark) {
        int piece = (int) (mark >>> 32);
        int offset = (int) mark;
        if (piece < pieces.size()) {
            dropBuffer();
            while (pieces.size() > piece + 1) {
                release(pieces.removeLast());
            }
            // A value's view follows its header, so a mark never points into it.
            ByteBuf last = pieces.removeLast();
            finished(-last.readableBytes());
            open(last);
        }
        at = start + offset;
    }

    private void release(ByteBuf piece) {
        if (isValue(piece)) {
            finishedBytes -= piece.readableBytes();
        } else {
            finished(-piece.readableBytes());
        }
        piece.release();
    }

    private static boolean isValue(ByteBuf piece) {
        return piece instanceof RunBuffer run && run.isValue();
    }

    /** Whether nothing has been written since the last {@link #take}. */
    public final boolean isEmpty() {
        return pieces.isEmpty() && at == start;
    }

    /** Bytes written since the last {@link #take}, including large values. */
    public final long pendingBytes() {
        return finishedBytes + (at - start);
    }

    /** The part of {@link #pendingBytes} that has its own memory. */
    public final long copiedBytes() {
        return copiedBytes + (at - start);
    }

    /** The address of all output since the last {@link #take}, if it is in one piece; else 0. */
    public final long onePiece() {
        return pieces.isEmpty() ? start : 0;
    }

    /** Copies all output since the last {@link #take} to an address, where {@link #pendingBytes} are free. */
    public final void copyTo(long address) {
        long to = address;
        for (ByteBuf piece : pieces) {
            int length = piece.readableBytes();
            Memory.copy(addressOf(piece) + piece.readerIndex(), to, length);
            to += length;
        }
        Memory.copy(start, to, at - start);
    }

    /** Passes all output, in order, to a consumer that writes and releases it. */
    public final void take(Consumer<ByteBuf> taker) {
        finishBuffer();
        for (int i = 0; i < pieces.size(); i++) {
            taker.accept(pieces.get(i));
        }
        forgetPieces();
    }

    /** Releases all output that was not taken, and the reused buffer. */
    @Override
    public final void close() {
        first.close();
        dropBuffer();
        for (ByteBuf piece : pieces) {
            piece.release();
        }
        forgetPieces();
    }

    private void forgetPieces() {
        pieces.clear();
        finishedBytes = 0;
        copiedBytes = 0;
    }

    /** Moves the output since the mark, as far as it is in the mark's piece. @return the address of the gap */
    final long openGap(long mark, int gapBytes) {
        int piece = (int) (mark >>> 32);
        int offset = (int) mark;
        if (piece == pieces.size()) {
            if (end - at < gapBytes) {
                growCurrent(gapBytes);
            }
            long from = start + offset;
            Memory.copy(from, from + gapBytes, at - from);
            at += gapBytes;
            return from;
        }
        ByteBuf old = pieces.get(piece);
        int length = old.readableBytes();
        long from = addressOf(old) + old.readerIndex();
        ByteBuf larger = allocator.directBuffer(length + gapBytes);
        long to = addressOf(larger);
        Memory.copy(from, to, offset);
        Memory.copy(from + offset, to + offset + gapBytes, length - offset);
        larger.setIndex(0, length + gapBytes);
        pieces.set(piece, larger);
        old.release();
        finished(gapBytes);
        return to + offset;
    }

    private void growCurrent(int gapBytes) {
        ByteBuf current = Objects.requireNonNull(buffer);
        int length = (int) (at - start);
        ByteBuf larger = allocator.directBuffer(Math.max(CHUNK_BYTES, length + gapBytes));
        Memory.copy(start, addressOf(larger), length);
        current.release();
        open(larger);
        at = start + length;
    }

    final void raw(String ascii) {
        ensure(ascii.length());
        putAscii(ascii);
    }

    final void raw(byte[] bytes, int length) {
        ensure(length);
        Memory.copy(bytes, 0, at, length);
        at += length;
    }

    final void putByte(int b) {
        Memory.putByte(at++, (byte) b);
    }

    final void putAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            Memory.putByte(at + i, (byte) text.charAt(i));
        }
        at += text.length();
    }

    final void putCrlf() {
        Memory.putShort(at, (short) CRLF);
        at += CRLF_BYTES;
    }

    final void ensure(int bytes) {
        if (end - at < bytes) {
            nextBuffer(bytes);
        }
    }

    private void nextBuffer(int bytes) {
        ByteBuf fresh = bytes <= CHUNK_BYTES && isEmpty()
                ? first.take()
                : allocator.directBuffer(Math.max(chunkBytes(), bytes));
        finishBuffer();
        open(fresh);
        at = start;
    }

    private int chunkBytes() {
        long part = copiedBytes / CHUNK_PART;
        return part <= CHUNK_BYTES ? CHUNK_BYTES : (int) Math.min(MAX_CHUNK_BYTES, Long.highestOneBit(part));
    }

    /** Bytes before the reader index, if any, belong to an earlier piece. */
    private void open(ByteBuf fresh) {
        buffer = fresh;
        long address = addressOf(fresh);
        start = address + fresh.readerIndex();
        end = address + fresh.capacity();
    }

    private void finishBuffer() {
        ByteBuf current = buffer;
        if (current == null) {
            return;
        }
        int length = (int) (at - start);
        if (length == 0) {
            current.release();
        } else {
            int from = current.readerIndex();
            current.setIndex(from, from + length);
            pieces.add(current);
            finished(length);
        }
        forgetBuffer();
    }

    /** Ends a piece; further output uses the rest of the buffer. */
    final void cutBuffer() {
        ByteBuf current = buffer;
        if (current == null || end - at < MIN_REST_BYTES) {
            finishBuffer();
            return;
        }
        int from = current.readerIndex();
        int length = (int) (at - start);
        pieces.add(current.retainedSlice(from, length));
        finished(length);
        current.setIndex(from + length, from + length);
        start = at;
    }

    private void finished(int length) {
        finishedBytes += length;
        copiedBytes += length;
    }

    private void dropBuffer() {
        if (buffer != null) {
            buffer.release();
        }
        forgetBuffer();
    }

    private void forgetBuffer() {
        buffer = null;
        start = 0;
        at = 0;
        end = 0;
    }

    /** The address of a direct buffer's first byte. */
    static long addressOf(ByteBuf direct) {
        return direct.hasMemoryAddress()
                ? direct.memoryAddress()
                : MemorySegment.ofBuffer(direct.nioBuffer(0, direct.capacity())).address();
    }
}
