package io.varve.proxy.client;

import java.util.Arrays;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.proxy.resp.Requests;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandErrors;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.RequestSink;
import io.varve.server.resp.Shortage;
import org.jspecify.annotations.Nullable;

/**
 * The request of a client that is being handled: its arguments in place, and its bytes. Confined to the client's event
 * loop, and reused for the next request.
 */
final class Request implements Arguments, RequestSink {
    private static final int INITIAL_ARGUMENTS = 16;
    /** A longer table is given up after the request. */
    private static final int KEPT_ARGUMENTS = 4096;

    private long[] addresses = new long[INITIAL_ARGUMENTS];
    private int[] lengths = new int[INITIAL_ARGUMENTS];
    private int count;
    private boolean isComplete;
    private Shortage shortage = Shortage.NONE;
    /** The buffer with the request: the client's input, or one that belongs to the request. */
    private @Nullable ByteBuf buffer;
    private boolean ownsBuffer;
    private int begin;
    private int end;

    // --- decoding

    @Override
    public void beginRequest(int arguments) {
        count = 0;
    }

    @Override
    public void argument(long address, int length) {
        if (count == addresses.length) {
            addresses = Arrays.copyOf(addresses, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
        }
        addresses[count] = address;
        lengths[count] = length;
        count++;
    }

    @Override
    public void runArgument(ValueRun run) {
        throw new IllegalStateException("no bulk is received in a run");
    }

    @Override
    public void endRequest(Shortage limit) {
        shortage = limit;
        isComplete = true;
    }

    @Override
    public void abandonRequest() {
        count = 0;
    }

    @Override
    public boolean isFull() {
        return isComplete;
    }

    /**
     * Keeps where the bytes of the decoded request are in the input. An inline command is written as an array.
     *
     * @param from the first index that the request may begin at
     * @param to the index after the request
     */
    void take(ByteBuf input, int from, int to, ByteBufAllocator allocator) {
        long base = input.memoryAddress();
        long start = addresses[0] - header(lengths[0]) - header(count);
        boolean isArray = start >= base + from && Memory.getByte(start) == '*'
                && Memory.getByte(addresses[0] - header(lengths[0])) == '$';
        if (isArray) {
            buffer = input;
            begin = (int) (start - base);
            end = to;
        } else {
            ByteBuf written = rewritten(allocator);
            buffer = written;
            ownsBuffer = true;
            begin = written.readerIndex();
            end = written.writerIndex();
        }
    }

    /** Size of a type byte, a number and a line end. */
    private static int header(int number) {
        return 1 + Numbers.longChars(number) + 2;
    }

    private ByteBuf rewritten(ByteBufAllocator allocator) {
        int[] all = new int[count];
        Arrays.setAll(all, i -> i);
        ByteBuf written = Requests.select(allocator, this, all, count);
        long at = written.memoryAddress() + header(count);
        for (int i = 0; i < count; i++) {
            at += header(lengths[i]);
            addresses[i] = at;
            at += lengths[i] + 2L;
        }
        return written;
    }

    /** Keeps its bytes where they are, while further input arrives. */
    void keep() {
        if (!ownsBuffer && buffer != null) {
            buffer.retain();
            ownsBuffer = true;
        }
    }

    /** Drops the request. */
    void clear() {
        ByteBuf held = buffer;
        buffer = null;
        if (ownsBuffer && held != null) {
            held.release();
        }
        ownsBuffer = false;
        isComplete = false;
        count = 0;
        if (addresses.length > KEPT_ARGUMENTS) {
            addresses = new long[INITIAL_ARGUMENTS];
            lengths = new int[INITIAL_ARGUMENTS];
        }
    }

    // --- contents

    /** Whether a request has been decoded and not cleared. */
    boolean isComplete() {
        return isComplete;
    }

    Shortage shortage() {
        return shortage;
    }

    /** The request as an array of bulks, for the caller, who releases it. */
    ByteBuf retainedBytes() {
        // A slice with the reference count of the buffer costs less than retainedSlice, which has one of its own.
        return java.util.Objects.requireNonNull(buffer).slice(begin, end - begin).retain();
    }

    /** Size of the request, bytes. */
    int size() {
        return end - begin;
    }

    @Override
    public int argumentCount() {
        return count;
    }

    @Override
    public long argumentAddress(int index) {
        return addresses[index];
    }

    @Override
    public int argumentLength(int index) {
        return lengths[index];
    }

    /** The first bytes of an argument as text. */
    String text(int index) {
        return CommandErrors.text(this, index, MAX_TEXT_BYTES);
    }
}
