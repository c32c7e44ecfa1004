package io.varve.server.resp;

import java.util.ArrayDeque;

import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Decodes requests from received bytes: arrays of bulks, and inline commands. Confined to the event loop of its
 * connection.
 *
 * <p>Decoding of an incomplete request resumes where the bytes ran out. The decoder keeps only offsets from the
 * request's first byte, so that the buffer may move between two calls. A bulk over {@link LargeBulks#thresholdBytes}
 * never stays in the buffer: it is copied out into a run as it arrives ({@link #fill}).
 *
 * <p>The errors and the limits are Redis's (networking.c of 7.2).
 */
public final class RequestDecoder {
    /** Maximum length of a line (an inline command, a count), bytes. */
    public static final int MAX_LINE_BYTES = 64 << 10;
    /** Maximum number of elements of a request. */
    public static final int MAX_ARGUMENTS = Integer.MAX_VALUE;
    static final int MAX_ARGUMENTS_UNAUTHENTICATED = 10;
    static final int MAX_BULK_UNAUTHENTICATED_BYTES = 16384;

    private static final String UNBALANCED = "unbalanced quotes in request";
    private static final int NONE = -1;
    /** The argument after the command's name. */
    private static final int FIRST_KEY = 1;
    /** Results of {@link #line}: the count is incomplete, or malformed. */
    private static final int INCOMPLETE = -1;
    private static final int MALFORMED = -2;
    /** The length of an argument that is in {@link #runs}. */
    private static final int IN_RUN = -1;

    /** Heap bytes of an argument: an address and a length in the sink, and before that an offset and a length here. */
    private static final int SINK_BYTES = 12;
    private static final int ARGUMENT_BYTES = SINK_BYTES + 8;

    private final LargeBulks largeBulks;
    private final RequestHeapBudget memory;
    /**
     * Bytes charged to {@link #memory} for the request being decoded, and for decoded requests that are not executed.
     */
    private long charged;
    private long chargedDecoded;
    private long maxBulkBytes;
    private boolean authenticated = true;

    private final ArgumentTable arguments = new ArgumentTable();
    private int longestArgument;
    private int remaining;
    private int bulkLength = NONE;
    /** Offsets from the request's first byte: the next byte to decode, and where the search for a line end resumes. */
    private int position;
    private int scanned;
    private Shortage shortage = Shortage.NONE;
    /** Whether the bulk being decoded is a large one, whose bytes go to {@link #fill}. */
    private boolean largePending;

    private final ArrayDeque<ValueRun> runs = new ArrayDeque<>(2);
    private @Nullable ValueRun filling;
    private int filled;
    /** Bytes of a large bulk still to arrive: into {@link #filling}, or, if that is null, to be dropped. */
    private int missing;

    private long lineValue;
    private int lineEnd;
    private @Nullable String error;

    public RequestDecoder(LargeBulks largeBulks, RequestHeapBudget memory, long maxBulkBytes) {
        this.largeBulks = largeBulks;
        this.memory = memory;
        this.maxBulkBytes = maxBulkBytes;
    }

    /** Sets proto-max-bulk-len, bytes. */
    public void maxBulkBytes(long value) {
        maxBulkBytes = value;
    }

    /** Sets whether the client has authenticated: before that it may send only little. */
    public void authenticated(boolean value) {
        authenticated = value;
    }

    /** The protocol error, without the prefix {@code ERR}; decoding stops there. Null: none. */
    public @Nullable String error() {
        return error;
    }

    /** Whether the next bytes belong to a large bulk and must go to {@link #fill}. */
    public boolean isFilling() {
        return missing > 0;
    }

    /** Whether a request has begun and not ended. */
    public boolean isInRequest() {
        return remaining > 0 || position > 0;
    }

    /**
     * Decodes requests until the sink is full, {@code maxBytes} are used up, or bytes run out.
     *
     * @param base address of the buffer
     * @param from offset of the first byte of the request that is being decoded
     * @param to offset after the last byte received
     * @param maxBytes no further request is begun after this many bytes
     * @return offset of the first byte that is still needed: all bytes before it are decoded. If {@link #isFilling},
     *     everything from {@link #keepBytes} after it on was taken out of the buffer
     */
    public int decode(long base, int from, int to, int maxBytes, RequestSink sink) {
        int start = from;
        while (error == null && missing == 0 && start < to && !sink.isFull() && start - from < maxBytes) {
            if (!isInRequest()) {
                int taken = ShortRequests.decode(base + start, to - start, maxBytes - (start - from),
                        largeBulks.thresholdBytes(), sink);
                if (taken > 0) {
                    start += taken;
                    // The first of them may have arrived in pieces, and the last piece completed a short request.
                    scanned = 0;
                    continue;
                }
            }
            int end = request(base + start, to - start, sink);
            if (end == INCOMPLETE) {
                break;
            }
            start += end;
        }
        return start;
    }

    /** While filling: number of the request's bytes that must stay in the buffer. */
    public int keepBytes() {
        return position;
    }

    /** Number of bytes of the incomplete request, from its first, that decoding needs to continue; 0: unknown. */
    public long neededBytes() {
        return bulkLength == NONE || largePending ? 0 : (long) position + bulkLength + 2;
    }

    /**
     * Takes bytes of a large bulk.
     *
     * @return the number of bytes taken
     */
    public int fill(long address, int available) {
        int taken = Math.min(available, missing);
        ValueRun run = filling;
        if (run != null) {
            Memory.copy(address, run.address() + filled, taken);
            filled += taken;
        }
        missing -= taken;
        if (missing == 0) {
            filling = null;
        }
        return taken;
    }

    /** Called after the decoded requests were executed and the sink has released them. */
    public void executed() {
        if (chargedDecoded > 0) {
            memory.release(chargedDecoded);
            chargedDecoded = 0;
        }
    }

    /** Releases the received part of an incomplete request. */
    public void close() {
        chargedDecoded += charged;
        charged = 0;
        executed();
        runs.forEach(ValueRun::release);
        runs.clear();
        filling = null;
        missing = 0;
        if (error == null) {
            error = "closed";
        }
    }

    /** Decodes one request, resuming where it stopped. @return its length, or INCOMPLETE */
    private int request(long start, int available, RequestSink sink) {
        if (remaining == 0) {
            if (Memory.getByte(start) != '*') {
                return inline(start, available, sink);
            }
            if (!multibulkHeader(start, available)) {
                return INCOMPLETE;
            }
        }
        while (remaining > 0) {
            if (!bulk(start, available)) {
                return INCOMPLETE;
            }
        }
        return complete(start, sink);
    }

    private boolean multibulkHeader(long start, int available) {
        int result = line(start, available, 0, "too big mbulk count string");
        if (result == INCOMPLETE) {
            return false;
        }
        if (result == MALFORMED || lineValue > MAX_ARGUMENTS) {
            return fail("invalid multibulk length");
        }
        if (lineValue > MAX_ARGUMENTS_UNAUTHENTICATED && !authenticated) {
            return fail("unauthenticated multibulk length");
        }
        position = lineEnd;
        remaining = (int) Math.max(0, lineValue);
        return true;
    }

    private boolean bulk(long start, int available) {
        if (bulkLength == NONE) {
            if (position >= available) {
                return false;
            }
            byte kind = Memory.getByte(start + position);
            if (kind != '$') {
                return fail("expected '$', got '" + (char) (kind & 0xFF) + "'");
            }
            int result = line(start, available, position, "too big bulk count string");
            if (result == INCOMPLETE) {
                return false;
            }
            if (result == MALFORMED || lineValue < 0 || lineValue > maxBulkBytes || lineValue > Integer.MAX_VALUE) {
                return fail("invalid bulk length");
            }
            if (lineValue > MAX_BULK_UNAUTHENTICATED_BYTES && !authenticated) {
                return fail("unauthenticated bulk length");
            }
            position = lineEnd;
            bulkLength = (int) lineValue;
            if (bulkLength > largeBulks.thresholdBytes() && !beginLarge(start, available)) {
                return false;
            }
        }
        if (largePending) {
            return endLarge(available);
        }
        // Summed as a long: a bulk may be as long as an int allows.
        if ((long) position + bulkLength + 2 > available) {
            return false;
        }
        add(position, bulkLength);
        longestArgument = Math.max(longestArgument, bulkLength);
        position += bulkLength + 2;
        bulkLength = NONE;
        remaining--;
        return true;
    }

    private boolean beginLarge(long start, int available) {
        largePending = true;
        filling = isWithoutHeap() ? null : largeBulks.open(new Received(start), longestArgument, bulkLength);
        if (arguments.count() == FIRST_KEY) {
            // A command's first key is usually this argument, and the run must have space for it before the value.
            longestArgument = Math.max(longestArgument, bulkLength);
        }
        filled = 0;
        missing = bulkLength;
        ValueRun opened = filling;
        if (opened == null) {
            shortage = isWithoutHeap() ? shortage : Shortage.MAXMEMORY;
            add(position, 0);
        } else {
            runs.add(opened);
            add(position, IN_RUN);
        }
        int here = Math.min(available - position, bulkLength);
        int keep = position;
        fill(start + position, here);
        if (missing > 0) {
            return false;
        }
        // The bulk was entirely in the buffer, and the bytes after it do not move.
        position = keep + bulkLength;
        return true;
    }

    /** The arguments decoded so far of the request that starts at an address. */
    private final class Received implements LargeBulks.Earlier {
        private final long start;

        private Received(long start) {
            this.start = start;
        }

        @Override
        public int count() {
            return arguments.count();
        }

        @Override
        public long address(int argument) {
            return start + arguments.offset(argument);
        }

        @Override
        public int length(int argument) {
            return Math.max(0, arguments.length(argument));
        }
    }

    private boolean endLarge(int available) {
        if (missing > 0 || position + 2 > available) {
            return false;
        }
        position += 2;
        largePending = false;
        bulkLength = NONE;
        remaining--;
        return true;
    }

    private int complete(long start, RequestSink sink) {
        int length = position;
        int count = arguments.count();
        if (count > 0) {
            sink.beginRequest(count);
            for (int i = 0; i < count; i++) {
                int argumentLength = arguments.length(i);
                if (argumentLength == IN_RUN) {
                    sink.runArgument(runs.remove());
                } else {
                    sink.argument(start + arguments.offset(i), argumentLength);
                }
            }
            sink.endRequest(shortage);
        }
        if (charged > 0) {
            // From here on only the sink holds the arguments, with exactly the memory that they need.
            long decoded = Math.min(charged, (long) count * SINK_BYTES);
            memory.release(charged - decoded);
            chargedDecoded += decoded;
            charged = 0;
        }
        arguments.clear();
        longestArgument = 0;
        shortage = Shortage.NONE;
        position = 0;
        scanned = 0;
        return length;
    }

    /**
     * Adds an argument. Memory is reserved for arrived arguments, never for announced ones. If the heap budget is
     * exhausted, the request is refused after it has arrived, and its further arguments are dropped.
     */
    private void add(int offset, int length) {
        if (isWithoutHeap()) {
            return;
        }
        if (arguments.needsBlock()) {
            long bytes = (long) ArgumentTable.BLOCK_ENTRIES * ARGUMENT_BYTES;
            if (!memory.tryReserve(bytes)) {
                refuse(length == IN_RUN);
                return;
            }
            charged += bytes;
            arguments.addBlock();
        }
        arguments.add(offset, length);
    }

    private boolean isWithoutHeap() {
        return shortage == Shortage.ARGUMENT_MEMORY;
    }

    /** @param inRun whether the refused argument has a run, the last one, which is being filled */
    private void refuse(boolean inRun) {
        shortage = Shortage.ARGUMENT_MEMORY;
        if (inRun) {
            filling = null;
            runs.removeLast().release();
        }
        for (int i = arguments.count() - 1; i >= RequestHeapBudget.FREE_ENTRIES; i--) {
            if (arguments.length(i) == IN_RUN) {
                runs.removeLast().release();
            }
        }
        arguments.dropBlocks();
        memory.release(charged);
        charged = 0;
    }

    /** Reads the number of a line that begins with a type byte, into {@link #lineValue} and {@link #lineEnd}. */
    private int line(long start, int available, int from, String tooLong) {
        int i = from + 1;
        long value = 0;
        int digitsEnd = Math.min(available, from + 11);
        byte b = 0;
        while (i < digitsEnd && (b = Memory.getByte(start + i)) >= '0' && b <= '9') {
            value = value * 10 + (b - '0');
            i++;
        }
        if (i < available && b == '\r' && i > from + 1 && (i == from + 2 || Memory.getByte(start + from + 1) != '0')) {
            if (i + 1 >= available) {
                return INCOMPLETE;
            }
            lineValue = value;
            lineEnd = i + 2;
            return 0;
        }
        return unusualLine(start, available, from, tooLong);
    }

    private int unusualLine(long start, int available, int from, String tooLong) {
        int i = endOfLine(start, Math.max(scanned, from + 1), available, '\r');
        scanned = i;
        if (i >= available || Memory.getByte(start + i) == 0) {
            if (available - from > MAX_LINE_BYTES) {
                fail(tooLong);
            }
            return INCOMPLETE;
        }
        if (i + 1 >= available) {
            return INCOMPLETE;
        }
        if (!Numbers.isLong(start + from + 1, i - from - 1)) {
            return MALFORMED;
        }
        lineValue = Numbers.toLong(start + from + 1, i - from - 1);
        lineEnd = i + 2;
        return 0;
    }

    /**
     * The end of a line, or a NUL before it. Redis searches lines as C strings, so it finds no end after a NUL, and the
     * input grows until it is too long.
     */
    private static int endOfLine(long start, int from, int available, char end) {
        int i = from;
        while (i < available) {
            byte b = Memory.getByte(start + i);
            if (b == end || b == 0) {
                break;
            }
            i++;
        }
        return i;
    }

    private int inline(long start, int available, RequestSink sink) {
        int i = endOfLine(start, scanned, available, '\n');
        scanned = i;
        if (i >= available || Memory.getByte(start + i) == 0) {
            if (available > MAX_LINE_BYTES) {
                fail("too big inline request");
            }
            return INCOMPLETE;
        }
        int length = i > 0 && Memory.getByte(start + i - 1) == '\r' ? i - 1 : i;
        if (!split(start, length)) {
            return INCOMPLETE;
        }
        position = i + 1;
        return complete(start, sink);
    }

    /** Splits an inline command at blanks, as sdssplitargs does; quoted arguments are unescaped in place. */
    private boolean split(long start, int length) {
        int i = 0;
        while (true) {
            while (i < length && isBlank(Memory.getByte(start + i))) {
                i++;
            }
            if (i >= length) {
                return true;
            }
            int offset = i;
            int out = i;
            byte quote = 0;
            boolean ended = false;
            while (!ended) {
                if (i >= length) {
                    if (quote != 0) {
                        return fail(UNBALANCED);
                    }
                    break;
                }
                byte b = Memory.getByte(start + i);
                if (quote == '"' && b == '\\' && i + 1 < length) {
                    i += escape(start, i, length, out++);
                } else if (quote == '\'' && b == '\\' && i + 1 < length && Memory.getByte(start + i + 1) == '\'') {
                    Memory.putByte(start + out++, (byte) '\'');
                    i += 2;
                } else if (quote != 0 && b == quote) {
                    if (i + 1 < length && !isBlank(Memory.getByte(start + i + 1))) {
                        return fail(UNBALANCED);
                    }
                    i++;
                    ended = true;
                } else if (quote == 0 && (b == '"' || b == '\'')) {
                    quote = b;
                    i++;
                } else if (quote == 0 && isBlank(b)) {
                    ended = true;
                } else {
                    Memory.putByte(start + out++, b);
                    i++;
                }
            }
            add(offset, out - offset);
        }
    }

    /** Writes the byte of the escape sequence at {@code i} to {@code out}. @return the length of the sequence */
    private static int escape(long start, int i, int length, int out) {
        byte next = Memory.getByte(start + i + 1);
        if (next == 'x' && i + 3 < length) {
            int high = Character.digit(Memory.getByte(start + i + 2), 16);
            int low = Character.digit(Memory.getByte(start + i + 3), 16);
            if (high >= 0 && low >= 0) {
                Memory.putByte(start + out, (byte) (high << 4 | low));
                return 4;
            }
        }
        byte value = switch (next) {
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'b' -> '\b';
            case 'a' -> 7;
            default -> next;
        };
        Memory.putByte(start + out, value);
        return 2;
    }

    private static boolean isBlank(byte b) {
        return b == ' ' || b >= 9 && b <= 13;
    }

    private boolean fail(String what) {
        error = "Protocol error: " + what;
        return false;
    }
}
