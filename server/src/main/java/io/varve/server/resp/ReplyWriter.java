package io.varve.server.resp;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
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
    /** A long reply goes into larger chunks, of this part of it, so that there are never very many. */
    private static final int CHUNK_PART = 16;
    private static final int MAX_CHUNK_BYTES = 1 << 20;
    /** Behind a large value it goes on in the rest of the chunk if there is this much of it. */
    private static final int LEAST_REST_BYTES = 64;
    private static final int CRLF = '\n' << Byte.SIZE | '\r';
    private static final int CRLF_BYTES = 2;
    /** The longest header: its kind, a number and a line break. */
    private static final int HEADER_ROOM = 1 + Numbers.MAX_LONG_CHARS + CRLF_BYTES;
    /** From 0 to below that a number's header has five bytes at the most. */
    private static final int SHORT_HEADERS = 100;
    /** {@code +OK} and a line break, and what does not matter. */
    private static final long OK = '+' | 'O' << Byte.SIZE | 'K' << 2 * Byte.SIZE | (long) CRLF << 3 * Byte.SIZE;
    private static final int OK_BYTES = 3 + CRLF_BYTES;
    /** What stands in front of the text of a double in a bulk: a dollar, two digits and a line break. */
    private static final int DOUBLE_HEAD_BYTES = 5;

    private final ByteBufAllocator allocator;
    private final ArgumentMemory heap;
    /** Most replies fit into it, and have been written out before the next begins. */
    private final ReusedBuffer first;
    /** What goes out before the current buffer: complete buffers, and views of large values' runs. */
    private final List<ByteBuf> pieces = new ArrayList<>();
    /** Bytes in {@link #pieces}, and how many were copied into them. */
    private long finishedBytes;
    private long copiedBytes;
    private @Nullable ByteBuf buffer;
    private long start;
    private long at;
    private long end;
    private int protocol = 2;
    private long errors;
    private String lastError = "";

    /**
     * @param heap what the objects around large values are charged to
     */
    public ReplyWriter(ByteBufAllocator allocator, ArgumentMemory heap) {
        this.allocator = allocator;
        this.heap = heap;
        first = new ReusedBuffer(allocator, CHUNK_BYTES);
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
        ensure(Long.BYTES);
        Memory.putLong(at, OK);
        at += OK_BYTES;
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
        error(text, text.getBytes(StandardCharsets.UTF_8));
    }

    /** An error that repeats bytes of the request: each char of the text is a byte. */
    public void errorOfBytes(String text) {
        error(text, text.getBytes(StandardCharsets.ISO_8859_1));
    }

    private void error(String text, byte[] bytes) {
        errors++;
        lastError = text;
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
        if (length < CHUNK_BYTES) {
            ensure(HEADER_ROOM + length + CRLF_BYTES);
            putHeader('$', length);
            putText(address, length);
        } else {
            // In parts: with what stands around it, it may be longer than an int can tell.
            header('$', length);
            ensure(length);
            Memory.copy(address, at, length);
            at += length;
            ensure(CRLF_BYTES);
            putCrlf();
        }
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
     * @throws NoBufferException if the heap has no room for one more such reference
     */
    public void bigBulk(ValueRun run, long address, int length) {
        header('$', length);
        run.retain();
        RunBuffer view = RunBuffer.ofValue(allocator, run, address, length, heap);
        cutBuffer();
        pieces.add(view);
        finishedBytes += length;
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

    /** A double, as {@link DoubleText} writes it; a bulk in RESP2. */
    public void doubleValue(double value) {
        putDouble(value, resp3());
    }

    /** A bulk that holds the text of a double. */
    public void bulkDouble(double value) {
        putDouble(value, false);
    }

    /** A bulk that holds a number that is not negative, and less than ten to the 14th, with four decimals. */
    public void bulkFourDecimals(double value) {
        ensure(DOUBLE_HEAD_BYTES + DoubleText.MAX_CHARS + 2);
        long text = at + DOUBLE_HEAD_BYTES;
        putBulk(text, DoubleText.putFourDecimals(text, value));
    }

    /** It is written behind where the longest head of a bulk would end, which is then put in front of it. */
    private void putDouble(double value, boolean asNumber) {
        ensure(DOUBLE_HEAD_BYTES + DoubleText.MAX_CHARS + 2);
        long text = at + DOUBLE_HEAD_BYTES;
        int length = DoubleText.put(text, value);
        if (asNumber) {
            putByte(',');
            putText(text, length);
        } else {
            putBulk(text, length);
        }
    }

    private void putBulk(long text, int length) {
        putExactHeader('$', length);
        putText(text, length);
    }

    private void putText(long text, int length) {
        Memory.copy(text, at, length);
        at += length;
        putCrlf();
    }

    /** A double whose text is given, ASCII; a bulk in RESP2. */
    public void doubleText(String text) {
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

    /**
     * Puts the head of SCAN's reply, {@code *2}, the cursor and {@code *count}, in front of the elements written since
     * {@link #beginDeferred}.
     */
    public void endScan(long mark, long cursor, long count) {
        String digits = Long.toUnsignedString(cursor);
        int room = 4 + 1 + Numbers.longChars(digits.length()) + 2 + digits.length() + 2 + 1
                + Numbers.longChars(count) + 2;
        long to = openGap(mark, room);
        long behind = at;
        at = to;
        putByte('*');
        putByte('2');
        putCrlf();
        putExactHeader('$', digits.length());
        putAscii(digits);
        putCrlf();
        putExactHeader('*', count);
        assert at == to + room : at - to;
        at = behind;
    }

    // --- taking back and taking out

    /** Makes sure that so many bytes can be written without another buffer: replies that must not fail fit in them. */
    public void reserve(int bytes) {
        ensure(bytes);
    }

    /**
     * Makes sure that an array of so many integers can be written without another buffer.
     *
     * @param longestBytes of a reply of one of them
     */
    public void reserveIntegers(int count, int longestBytes) {
        // More is asked for before each of them than it takes: of the last one, too.
        ensure((int) Math.min(Integer.MAX_VALUE / 2, 2 * HEADER_ROOM + (long) longestBytes * count));
    }

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
            // A value's view stands behind its head, so it is never what a mark points into.
            ByteBuf last = pieces.removeLast();
            finished(-last.readableBytes());
            open(last);
        }
        at = start + offset;
    }

    private void release(ByteBuf piece) {
        if (piece instanceof RunBuffer run && run.isValue()) {
            finishedBytes -= piece.readableBytes();
        } else {
            finished(-piece.readableBytes());
        }
        piece.release();
    }

    /** Whether nothing has been written since the last {@link #take}. */
    public boolean isEmpty() {
        return pieces.isEmpty() && at == start;
    }

    /** Bytes written since the last {@link #take}, large values included. */
    public long pendingBytes() {
        return finishedBytes + (at - start);
    }

    /** Those of {@link #pendingBytes} that take memory of their own. */
    public long copiedBytes() {
        return copiedBytes + (at - start);
    }

    /** Hands over everything written, in order, to be written out and released by the taker. */
    public void take(Consumer<ByteBuf> taker) {
        finishBuffer();
        for (int i = 0; i < pieces.size(); i++) {
            taker.accept(pieces.get(i));
        }
        forgetPieces();
    }

    /** Releases everything that was not taken, and lets go of the buffer that is used again and again. */
    public void close() {
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
        ensure(HEADER_ROOM);
        putHeader(kind, value);
    }

    /** SAFETY: there is {@link #HEADER_ROOM}, and nothing behind the header yet. */
    private void putHeader(char kind, long value) {
        if (value >= 0 && value < SHORT_HEADERS) {
            putShortHeader(kind, (int) value);
        } else {
            putExactHeader(kind, value);
        }
    }

    /** A header of one digit or two, which is nearly every one, in a single write, and not byte by byte. SAFETY: it writes to eight bytes. */
    private void putShortHeader(char kind, int value) {
        int tens = value / 10;
        int ones = '0' + value - 10 * tens;
        if (tens == 0) {
            Memory.putLong(at, kind | ones << Byte.SIZE | (long) CRLF << 2 * Byte.SIZE);
            at += 2 + CRLF_BYTES;
        } else {
            Memory.putLong(at, kind | '0' + tens << Byte.SIZE | ones << 2 * Byte.SIZE | (long) CRLF << 3 * Byte.SIZE);
            at += 3 + CRLF_BYTES;
        }
    }

    /** Writes to no byte behind the header. */
    private void putExactHeader(char kind, long value) {
        putByte(kind);
        at += Numbers.putLong(at, value);
        putCrlf();
    }

    private void insertHeader(long mark, char kind, long value) {
        long to = openGap(mark, 1 + Numbers.longChars(value) + 2);
        long behind = at;
        at = to;
        putExactHeader(kind, value);
        at = behind;
    }

    /** Moves what was written since the mark, as far as it is in one piece with it. @return where the gap begins */
    private long openGap(long mark, int room) {
        int piece = (int) (mark >>> 32);
        int offset = (int) mark;
        if (piece == pieces.size()) {
            if (end - at < room) {
                growCurrent(room);
            }
            long from = start + offset;
            Memory.copy(from, from + room, at - from);
            at += room;
            return from;
        }
        ByteBuf old = pieces.get(piece);
        int length = old.readableBytes();
        long from = addressOf(old) + old.readerIndex();
        ByteBuf larger = allocator.directBuffer(length + room);
        long to = addressOf(larger);
        Memory.copy(from, to, offset);
        Memory.copy(from + offset, to + offset + room, length - offset);
        larger.setIndex(0, length + room);
        pieces.set(piece, larger);
        old.release();
        finished(room);
        return to + offset;
    }

    private void growCurrent(int room) {
        ByteBuf current = java.util.Objects.requireNonNull(buffer);
        int length = (int) (at - start);
        ByteBuf larger = allocator.directBuffer(Math.max(CHUNK_BYTES, length + room));
        Memory.copy(start, addressOf(larger), length);
        current.release();
        open(larger);
        at = start + length;
    }

    private void raw(String ascii) {
        ensure(ascii.length());
        putAscii(ascii);
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
        Memory.putShort(at, (short) CRLF);
        at += CRLF_BYTES;
    }

    private void ensure(int bytes) {
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

    /** The bytes before the reader's index, if there are any, belong to a piece already. */
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

    /** Ends a piece; what follows goes into the rest of the same buffer. */
    private void cutBuffer() {
        ByteBuf current = buffer;
        if (current == null || end - at < LEAST_REST_BYTES) {
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

    /** Where a direct buffer's first byte is. */
    static long addressOf(ByteBuf direct) {
        return direct.hasMemoryAddress()
                ? direct.memoryAddress()
                : MemorySegment.ofBuffer(direct.nioBuffer(0, direct.capacity())).address();
    }
}
