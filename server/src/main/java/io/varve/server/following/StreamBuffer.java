package io.varve.server.following;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;

import io.varve.memory.offheap.Memory;
import io.varve.server.system.NativeMemory;

/**
 * Bytes of a primary's stream that have not been dealt with, in one piece of native memory. It grows to the longest
 * command. Confined to one thread.
 */
final class StreamBuffer implements AutoCloseable {
    private static final int FIRST_BYTES = 256 << 10;
    private static final int READ_BYTES = 64 << 10;

    private final byte[] read = new byte[READ_BYTES];
    private NativeMemory owner = new NativeMemory();
    private MemorySegment memory = owner.allocate(FIRST_BYTES);
    private long start;
    private long end;

    /** The address of the first byte. */
    long address() {
        return memory.address() + start;
    }

    /** The address after the last byte. */
    long limit() {
        return memory.address() + end;
    }

    long length() {
        return end - start;
    }

    /** Drops bytes at the beginning. */
    void drop(long bytes) {
        start += bytes;
        if (start == end) {
            start = 0;
            end = 0;
        }
    }

    /**
     * Waits for bytes, and adds those that are there.
     *
     * @throws EOFException at the end of the stream
     */
    void fill(InputStream from) throws IOException {
        int count = from.read(read);
        if (count < 0) {
            throw new EOFException("the primary has closed the connection");
        }
        add(read, count);
    }

    private void add(byte[] bytes, int count) {
        if (memory.byteSize() - end < count) {
            makeRoom(count);
        }
        Memory.copy(bytes, 0, memory.address() + end, count);
        end += count;
    }

    private void makeRoom(int count) {
        long length = length();
        if (length + count <= memory.byteSize() / 2) {
            MemorySegment.copy(memory, start, memory, 0, length);
        } else {
            NativeMemory grown = new NativeMemory();
            MemorySegment larger = grown.allocate(2 * (length + count));
            MemorySegment.copy(memory, start, larger, 0, length);
            owner.close();
            owner = grown;
            memory = larger;
        }
        start = 0;
        end = length;
    }

    @Override
    public void close() {
        owner.close();
    }
}
