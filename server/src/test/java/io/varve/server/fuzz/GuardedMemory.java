package io.varve.server.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import io.varve.memory.offheap.Memory;

/**
 * Memory with a guarded end: an access beyond it throws an {@link InternalError} instead of touching other bytes.
 * Confined to the test's thread.
 *
 * <p>It is a file that was mapped and then truncated: a mapped page beyond the file's end cannot be accessed, which the
 * JVM reports as an error and survives. The bytes before the content are arbitrary, and no result may depend on them.
 */
public final class GuardedMemory implements AutoCloseable {
    /** A multiple of what a page is anywhere. */
    private static final int GUARD_BYTES = 1 << 16;
    private static final int FRONT_BYTES = 64;

    /** The driver of a target may close it on another thread. */
    private final Arena arena = Arena.ofShared();
    private final MemorySegment content;
    private final long end;
    private final int capacity;

    public GuardedMemory(int atLeastBytes) {
        int bytes = (atLeastBytes + FRONT_BYTES + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
        capacity = bytes - FRONT_BYTES;
        try {
            Path file = Files.createTempFile("varve-guarded", ".bytes");
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                MemorySegment mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, (long) bytes + GUARD_BYTES,
                        arena);
                content = mapped.asSlice(0, bytes);
                end = mapped.address() + bytes;
                channel.truncate(bytes);
            } finally {
                Files.delete(file);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    /** The end of the memory, which cannot be read. */
    long end() {
        return end;
    }

    /** Puts bytes where the memory ends, and others in front of them. @return where they begin */
    public long put(byte[] bytes, int from, int to, byte front) {
        long begin = take(to - from, front);
        Memory.copy(bytes, from, begin, to - from);
        return begin;
    }

    /** As {@link #put}, for all bytes. @return them in this memory */
    public MemorySegment segment(byte[] bytes, byte front) {
        put(bytes, 0, bytes.length, front);
        return content.asSlice(content.byteSize() - bytes.length);
    }

    /** So many bytes where the memory ends. */
    public long take(int length, byte front) {
        if (length > capacity) {
            throw new IllegalArgumentException(length + " bytes: " + capacity + " are the most");
        }
        long begin = end - length;
        for (int i = 1; i <= FRONT_BYTES; i++) {
            Memory.putByte(begin - i, front);
        }
        return begin;
    }

    @Override
    public void close() {
        arena.close();
    }
}
