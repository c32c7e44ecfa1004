package io.varve.server.system;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Memory off the heap for files that are written and read, and files mapped into memory. Thread-safe: any thread may
 * use it until {@link #close} frees all of it.
 */
public final class NativeMemory implements AutoCloseable {
    private final Arena arena = Arena.ofShared();

    /** Memory of zeros. */
    public MemorySegment allocate(long bytes) {
        return arena.allocate(bytes);
    }

    /** Maps a whole file, for reading. */
    public MemorySegment map(FileChannel file) throws IOException {
        return file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
    }

    /** Maps a whole file, for reading. Later changes of its length are not seen. */
    public MemorySegment map(Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            return map(channel);
        }
    }

    /** Memory that the garbage collector frees. */
    public static MemorySegment collected(long bytes) {
        return Arena.ofAuto().allocate(bytes);
    }

    @Override
    public void close() {
        arena.close();
    }
}
