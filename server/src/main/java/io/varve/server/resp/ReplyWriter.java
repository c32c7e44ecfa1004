package io.varve.server.resp;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Writes replies, in RESP2 or RESP3, into outgoing direct buffers, by address. Confined to the event loop of its
 * connection.
 *
 * <p>What does not fit the current buffer goes into a further one, so that nothing written is ever copied again; a large
 * value is not copied at all but held by reference ({@link #bigBulk}). {@link #mark} and {@link #rollback} take back
 * what a command has written.
 */
public final class ReplyWriter {
    private static final int CHUNK_BYTES = 16 << 10;
    private static final byte[] CRLF = {'\r', '\n'};

    /** What goes out, in order: a buffer, or a run. */
    public sealed interface Piece {
        /** Replies in a buffer, which the taker releases. */
        record Bytes(ByteBuf buffer) implements Piece {}

        /** A large value's bytes; the buffer is a view, and the taker releases the run once they are written. */
        record Run(ValueRun run, ByteBuf buffer) implements Piece {}
    }

    private final ByteBufAllocator allocator;
    /** Complete pieces before the current buffer. */
    private final List<Piece> pieces = new ArrayList<>();
    private @Nullable ByteBuf buffer;
    private long start;
    private long at;
    private long end;
    private int protocol = 2;
    private long errors;
    private String lastError = "";

    public ReplyWriter(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /** 2 or 3. */
    public int protocol() {
        return protocol;
    }

    public void protocol(int version) {
        protocol = version;
    }

    /** Whether the connection speaks RESP3. */
    public boolean resp3() {
        return protocol >= 3;
    }

    // --- single values

    public void ok() {
        simple("OK");
    }

    /** A simple string; no line break in it. */
    public void simple(String text) {
        ensure(text.length() + 3);
        putByte('+');
        putAscii(text);
        putCrlf();
    }

    /** An error: the whole text, such as {@code ERR syntax error}. Line breaks in it become blanks. */
    public void error(String text) {
        errors++;
        lastError = text;
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        ensure(bytes.length + 3);
        putByte('-');
        for (byte b : bytes) {
            putByte(b == '\r' || b == '\n' ? ' ' : b);
        }
        putCrlf();
    }

    public void integer(long value) {
        header(':', value);
    }

    public void bulk(long address, int length) {
        header('$', length);
        raw(address, length);
        ensure(2);
        putCrlf();
    }

    public void bulk(byte[] bytes) {
        header('$', bytes.length);
        raw(bytes, bytes.length);
        ensure(2);
        putCrlf();
    }

    /** A bulk of ASCII text, written without an intermediate array. */
    public void bulkAscii(String text) {
        header('$', text.length());
        ensure(text.length() + 2);
        putAscii(text);
        putCrlf();
    }

    /** A bulk of any text, in UTF-8. */
    public void bulkText(String text) {
        bulk(text.getBytes(StandardCharsets.UTF_8));
    }

    /** A bulk that holds the decimal form of a number. */
    public void bulkLong(long value) {
        header('$', Numbers.longChars(value));
        ensure(Numbers.MAX_LONG_CHARS + 2);
        at += Numbers.putLong(at, value);
        putCrlf();
    }

    /**
     * A large value, or a part of one: its run is retained and the bytes go out of it without a copy.
     *
     * @param address of the first byte, in the run
     */
    public void bigBulk(ValueRun run, long address, int length) {
        header('$', length);
        run.retain();
        finishBuffer();
        MemorySegment bytes = Memory.all().asSlice(address, length);
        pieces.add(new Piece.Run(run, Unpooled.wrappedBuffer(bytes.asByteBuffer())));
        ensure(2);
        putCrlf();
    }

    /** The absence of a value: the null bulk of RESP2, the null of RESP3. */
    public void nil() {
        raw(resp3() ? "_\r\n" : "$-1\r\n");
    }

    /** The absence of an array: the null array of RESP2, the null of RESP3. */
    public void nilArray() {
        raw(resp3() ? "_\r\n" : "*-1\r\n");
    }

    /** A boolean; 1 or 0 in RESP2. */
    public void bool(boolean value) {
        if (resp3()) {
            raw(value ? "#t\r\n" : "#f\r\n");
        } else {
            integer(value ? 1 : 0);
        }
    }

    /** A double; a bulk in RESP2. */
    public void doubleValue(double value) {
        String text = Numbers.format(value);
        if (resp3()) {
            ensure(text.length() + 3);
            putByte(',');
            putAscii(text);
            putCrlf();
        } else {
            bulkAscii(text);
        }
    }

    /**
     * Text with a format of three letters, such as {@code txt}; a bulk in RESP2.
     */
    public void verbatim(String format, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        if (resp3()) {
            header('=', bytes.length + 4L);
            ensure(4);
            putAscii(format);
            putByte(':');
            raw(bytes, bytes.length);
            ensure(2);
            putCrlf();
        } else {
            bulk(bytes);
        }
    }

    // --- aggregates: the head, which the caller follows with the elements

    public void array(long count) {
        header('*', count);
    }

    /** A map of {@code pairs}; a flat array of twice as many in RESP2. */
    public void map(long pairs) {
        if (resp3()) {
            header('%', pairs);
        } else {
            header('*', pairs * 2);
        }
    }

    public void set(long count) {
        header(resp3() ? '~' : '*', count);
    }

    /** Out-of-band data; an array in RESP2. */
    public void push(long count) {
        header(resp3() ? '>' : '*', count);
    }

    /** A place for the head of an aggregate whose size is known only after its elements: see {@link #endArray}. */
    public long beginDeferred() {
        ensure(1);
        return mark();
    }

    /** Puts {@code *count} in front of all that was written since {@link #beginDeferred}. */
    public void endArray(long mark, long count) {
        insertHeader(mark, '*', count);
    }

    /** Puts the head of a map in front of all that was written since {@link #beginDeferred}. */
    public void endMap(long mark, long pairs) {
        insertHeader(mark, resp3() ? '%' : '*', resp3() ? pairs : pairs * 2);
    }

    /** Puts the head of a set in front of all that was written since {@link #beginDeferred}. */
    public void endSet(long mark, long count) {
        insertHeader(mark, resp3() ? '~' : '*', count);
    }

    // --- taking back and taking out

    /** The place where the next byte goes; valid until {@link #take}. */
    public long mark() {
        return (long) pieces.size() << 32 | (at - start);
    }

    /** Takes back everything written since {@link #mark}; runs among it are released. */
    public void rollback(long mark) {
        int piece = (int) (mark >>> 32);
        int offset = (int) mark;
        if (piece < pieces.size()) {
            dropBuffer();
            while (pieces.size() > piece + 1) {
                release(pieces.removeLast());
            }
            Piece last = pieces.removeLast();
            if (last instanceof Piece.Bytes(ByteBuf reopened)) {
                open(reopened);
            } else {
                // A run can be the piece of a mark only if nothing was written in front of it: then all of it goes.
                release(last);
            }
        }
        at = start + offset;
    }

    /** Whether nothing has been written since the last {@link #take}. */
    public boolean isEmpty() {
        return pieces.isEmpty() && at == start;
    }

    /** Bytes written since the last {@link #take}, runs included. */
    public long pendingBytes() {
        long sum = at - start;
        for (int i = 0; i < pieces.size(); i++) {
            sum += switch (pieces.get(i)) {
                case Piece.Bytes(ByteBuf bytes) -> bytes.readableBytes();
                case Piece.Run(_, ByteBuf bytes) -> bytes.readableBytes();
            };
        }
        return sum;
    }

    /** Hands over everything written, in order, to be written out and released by the taker. */
    public void take(Taker taker) {
        finishBuffer();
        for (int i = 0; i < pieces.size(); i++) {
            taker.take(pieces.get(i));
        }
        pieces.clear();
    }

    /** Releases everything that was not taken. */
    public void close() {
        dropBuffer();
        pieces.forEach(ReplyWriter::release);
        pieces.clear();
    }

    /** Receives the pieces of {@link #take}. */
    @FunctionalInterface
    public interface Taker {
        void take(Piece piece);
    }

    /** How many errors were written so far. */
    public long errors() {
        return errors;
    }

    /** The text of the last error. */
    public String lastError() {
        return lastError;
    }

    // --- bytes

    private void header(char kind, long value) {
        ensure(Numbers.MAX_LONG_CHARS + 3);
        putByte(kind);
        at += Numbers.putLong(at, value);
        putCrlf();
    }

    private void insertHeader(long mark, char kind, long value) {
        int piece = (int) (mark >>> 32);
        int offset = (int) mark;
        int room = 1 + Numbers.longChars(value) + 2;
        long from;
        if (piece == pieces.size()) {
            if (at + room > end) {
                growCurrent(room);
            }
            from = start + offset;
            Memory.copy(from, from + room, at - from);
            at += room;
        } else {
            from = makeRoom((Piece.Bytes) pieces.get(piece), offset, room);
        }
        Memory.putByte(from, (byte) kind);
        int digits = Numbers.putLong(from + 1, value);
        Memory.copy(CRLF, 0, from + 1 + digits, 2);
    }

    private static long makeRoom(Piece.Bytes piece, int offset, int room) {
        ByteBuf bytes = piece.buffer();
        int length = bytes.writerIndex();
        bytes.ensureWritable(room);
        bytes.writerIndex(length + room);
        long from = addressOf(bytes) + offset;
        Memory.copy(from, from + room, length - offset);
        return from;
    }

    private void growCurrent(int room) {
        ByteBuf current = java.util.Objects.requireNonNull(buffer);
        int length = (int) (at - start);
        current.writerIndex(length);
        current.ensureWritable(room);
        open(current);
        at = start + length;
    }

    private void raw(String ascii) {
        ensure(ascii.length());
        putAscii(ascii);
    }

    private void raw(long address, int length) {
        ensure(length);
        Memory.copy(address, at, length);
        at += length;
    }

    private void raw(byte[] bytes, int length) {
        ensure(length);
        Memory.copy(bytes, 0, at, length);
        at += length;
    }

    private void putByte(int b) {
        Memory.putByte(at++, (byte) b);
    }

    private void putAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            Memory.putByte(at + i, (byte) text.charAt(i));
        }
        at += text.length();
    }

    private void putCrlf() {
        Memory.putShort(at, (short) ('\n' << 8 | '\r'));
        at += 2;
    }

    private void ensure(int bytes) {
        if (end - at < bytes) {
            nextBuffer(bytes);
        }
    }

    private void nextBuffer(int bytes) {
        finishBuffer();
        open(allocator.directBuffer(Math.max(CHUNK_BYTES, bytes)));
        at = start;
    }

    private void open(ByteBuf fresh) {
        buffer = fresh;
        start = addressOf(fresh);
        end = start + fresh.capacity();
    }

    private void finishBuffer() {
        ByteBuf current = buffer;
        if (current == null) {
            return;
        }
        if (at == start) {
            current.release();
        } else {
            current.setIndex(0, (int) (at - start));
            pieces.add(new Piece.Bytes(current));
        }
        forgetBuffer();
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

    private static void release(Piece piece) {
        switch (piece) {
            case Piece.Bytes(ByteBuf bytes) -> bytes.release();
            case Piece.Run(ValueRun run, ByteBuf bytes) -> {
                bytes.release();
                run.release();
            }
        }
    }

    /** Where a direct buffer's first byte is. */
    static long addressOf(ByteBuf direct) {
        return direct.hasMemoryAddress()
                ? direct.memoryAddress()
                : MemorySegment.ofBuffer(direct.nioBuffer(0, direct.capacity())).address();
    }
}
