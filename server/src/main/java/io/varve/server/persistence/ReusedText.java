package io.varve.server.persistence;

import java.lang.foreign.MemorySegment;

import io.varve.server.rdb.PayloadMemory;
import io.varve.server.system.NativeMemory;

/** Memory for one text of a file at a time: the next text replaces it. Confined to its user. */
public final class ReusedText implements PayloadMemory, AutoCloseable {
    private static final int MIN_BYTES = 64 << 10;

    private NativeMemory owner = new NativeMemory();
    private MemorySegment memory = owner.allocate(MIN_BYTES);

    /** @throws OutOfMemoryError if the text is too long for the memory of the process */
    @Override
    public long take(int bytes) {
        if (bytes > memory.byteSize()) {
            owner.close();
            owner = new NativeMemory();
            memory = owner.allocate(Math.max(bytes, 2 * memory.byteSize()));
        }
        return memory.address();
    }

    @Override
    public void close() {
        owner.close();
    }
}
