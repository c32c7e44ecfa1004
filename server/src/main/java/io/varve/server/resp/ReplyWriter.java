package io.varve.server.resp;

import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Writes replies, in RESP2 or RESP3, into outgoing buffers. Confined to the event loop of its connection. A large value
 * is not copied but held by reference ({@link #bigBulk}).
 */
public final class ReplyWriter extends OutputBuffers {
    /** Maximum size of a header: its type, a number and a line end. */
    private static final int HEADER_BYTES = 1 + Numbers.MAX_LONG_CHARS + CRLF_BYTES;
    /** The header of a number from 0 to below this has at most five bytes. */
    private static final int SHORT_HEADERS = 100;
    /** {@code +OK} and a line end, and bytes that are overwritten. */
    private static final long OK = '+' | 'O' << Byte.SIZE | 'K' << 2 * Byte.SIZE | (long) CRLF << 3 * Byte.SIZE;
    private static final int OK_BYTES = 3 + CRLF_BYTES;
    /** The header of a bulk with the text of a double: a dollar, two digits and a line end. */
    private static final int DOUBLE_HEAD_BYTES = 5;
    private static final int MAX_RESERVED_BYTES = Integer.MAX_VALUE / 2;

    private final RequestHeapBudget heap;
    private int protocol = 2;
    private long errors;
    private String lastError = "";

    private @Nullable Consumer<String> onError;

    /** @param heap budget of the objects around large values */
    public ReplyWriter(ByteBufAllocator allocator, RequestHeapBudget heap) {
        super(allocator);
        this.heap = heap;
    }

    /**
     * Creates a writer for replies that nobody reads.
     *
     * @param onError receives each error, also of a command that runs again afterwards
     */
    public static ReplyWriter discarding(RequestHeapBudget heap, Consumer<String> onError) {
        ReplyWriter created = new ReplyWriter(PooledByteBufAllocator.DEFAULT, heap);
        created.onError = onError;
        return created;
    }

    /** Creates a writer with the same allocator and budget. */
    public ReplyWriter sibling() {
        return new ReplyWriter(allocator, heap);
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

    /** A simple string; it must not contain a line break. */
    public void simple(String text) {
        ensure(text.length() + 3);
        putByte('+');
        putAscii(text);
        putCrlf();
    }

    /** An error: the whole text, such as {@code ERR syntax error}. Line breaks become blanks. */
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
        if (onError != null) {
            onError.accept(text);
        }
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
            ensure(HEADER_BYTES + length + CRLF_BYTES);
            putHeader('$', length);
            putText(address, length);
        } else {
            // In parts, since text and header together may exceed an int.
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

    /** A bulk with the decimal form of a number. */
    public void bulkLong(long value) {
        header('$', Numbers.longChars(value));
        ensure(Numbers.MAX_LONG_CHARS + 2);
        at += Numbers.putLong(at, value);
        putCrlf();
    }

    /**
     * Writes a large value, or a part of one: its run is retained, and the bytes are sent from it without a copy.
     *
     * @param address the address of the first byte, in the run
     * @throws NoBufferException if the heap budget has no memory for one more reference
     */
    public void bigBulk(ValueRun run, long address, int length) {
        header('$', length);
        run.retain();
        RunBuffer view = RunBuffer.ofValue(allocator, run, address, length, heap);
        addPiece(view, length);
        ensure(2);
        putCrlf();
    }

    /** An absent value: the null bulk of RESP2, the null of RESP3. */
    public void nil() {
        raw(resp3() ? "_\r\n" : "$-1\r\n");
    }

    /** An absent array: the null array of RESP2, the null of RESP3. */
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

    /** A number of any length in decimal digits; a bulk in RESP2. */
    public void bigNumber(String digits) {
        if (resp3()) {
            ensure(digits.length() + 3);
            putByte('(');
            putAscii(digits);
            putCrlf();
        } else {
            bulkAscii(digits);
        }
    }

    /** Pairs about the reply that follows. RESP3 only. */
    public void attribute(long pairs) {
        header('|', pairs);
    }

    /** A double, as {@link DoubleText} writes it; a bulk in RESP2. */
    public void doubleValue(double value) {
        putDouble(value, resp3());
    }

    /** A bulk with the text of a double. */
    public void bulkDouble(double value) {
        putDouble(value, false);
    }

    /** A bulk with a non-negative number below ten to the 14th, with four decimals. */
    public void bulkFourDecimals(double value) {
        ensure(DOUBLE_HEAD_BYTES + DoubleText.MAX_CHARS + 2);
        long text = at + DOUBLE_HEAD_BYTES;
        putBulk(text, DoubleText.putFourDecimals(text, value));
    }

    /** Writes the text after the end of the longest possible header, and then the header before it. */
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

    /** A double whose text is given, in ASCII; a bulk in RESP2. */
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

    /** See {@link #verbatim(String, String)}. */
    public void verbatim(byte[] format, byte[] text) {
        if (resp3()) {
            header('=', text.length + format.length + 1L);
            raw(format, format.length);
            ensure(1);
            putByte(':');
            raw(text, text.length);
            ensure(2);
            putCrlf();
        } else {
            bulk(text);
        }
    }

    // --- aggregates: the header; the caller writes the elements

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

    /** Marks the place of an aggregate's header whose size is known only after its elements: see {@link #endArray}. */
    public long beginDeferred() {
        ensure(1);
        return mark();
    }

    /** Inserts {@code *count} before all output since {@link #beginDeferred}. */
    public void endArray(long mark, long count) {
        insertHeader(mark, '*', count);
    }

    /** Inserts the header of a map before all output since {@link #beginDeferred}. */
    public void endMap(long mark, long pairs) {
        insertHeader(mark, resp3() ? '%' : '*', resp3() ? pairs : pairs * 2);
    }

    /** Inserts the header of a set before all output since {@link #beginDeferred}. */
    public void endSet(long mark, long count) {
        insertHeader(mark, resp3() ? '~' : '*', count);
    }

    /**
     * Inserts the header of SCAN's reply, {@code *2}, the cursor and {@code *count}, before the elements written since
     * {@link #beginDeferred}.
     */
    public void endScan(long mark, long cursor, long count) {
        String digits = Long.toUnsignedString(cursor);
        int headerBytes = 4 + 1 + Numbers.longChars(digits.length()) + 2 + digits.length() + 2 + 1
                + Numbers.longChars(count) + 2;
        long to = openGap(mark, headerBytes);
        long behind = at;
        at = to;
        putByte('*');
        putByte('2');
        putCrlf();
        putExactHeader('$', digits.length());
        putAscii(digits);
        putCrlf();
        putExactHeader('*', count);
        assert at == to + headerBytes : at - to;
        at = behind;
    }

    /**
     * Ensures that an array of integers fits without another buffer.
     *
     * @param longestBytes maximum size of one of its replies
     */
    public void reserveIntegers(int count, int longestBytes) {
        // Each write, including the last one, reserves more than it uses.
        ensure((int) Math.min(Integer.MAX_VALUE / 2, 2 * HEADER_BYTES + (long) longestBytes * count));
    }

    /**
     * Ensures that an array of bulks and nils fits without another buffer.
     *
     * @param bytes the length of all bulks together
     * @return false if no buffer is so large
     */
    public boolean reserveBulks(int count, long bytes) {
        long all = bytes + (count + 2L) * (HEADER_BYTES + CRLF_BYTES);
        if (all > MAX_RESERVED_BYTES) {
            return false;
        }
        ensure((int) all);
        return true;
    }

    /** Number of errors written so far. */
    public long errors() {
        return errors;
    }

    /** The text of the last error. */
    public String lastError() {
        return lastError;
    }

    // --- bytes

    private void header(char kind, long value) {
        ensure(HEADER_BYTES);
        putHeader(kind, value);
    }

    /** SAFETY: requires {@link #HEADER_BYTES} free bytes, and no output after the header yet. */
    private void putHeader(char kind, long value) {
        if (value >= 0 && value < SHORT_HEADERS) {
            putShortHeader(kind, (int) value);
        } else {
            putExactHeader(kind, value);
        }
    }

    /**
     * Writes a header of one or two digits, which nearly every header is, in a single write instead of byte by byte.
     * SAFETY: it writes to eight bytes.
     */
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

    /** Writes to no byte after the header. */
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
}
