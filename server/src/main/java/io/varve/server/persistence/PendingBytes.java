package io.varve.server.persistence;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Deque;

import io.varve.memory.offheap.Memory;
import io.varve.server.system.NativeMemory;

/**
 * Bytes on their way to a file or a replica: any thread appends and never waits for the disk, one thread writes.
 * Guarded by its own monitor, which is not held during a write. Its blocks are reused, and freed at the end.
 */
public final class PendingBytes implements AutoCloseable {
    private static final int BLOCK_BYTES = 256 << 10;

    /** A block of memory, and how much of it is used. */
    private static final class Block {
        private final MemorySegment memory;
        private int used;

        Block(MemorySegment memory) {
            this.memory = memory;
        }
    }

    private final NativeMemory memory = new NativeMemory();
    private final Deque<Block> pending = new ArrayDeque<>();
    private final Deque<Block> free = new ArrayDeque<>();
    private long bytes;

    /** Appends a copy of bytes. */
    public synchronized void append(long address, long length) {
        long from = address;
        long left = length;
        while (left > 0) {
            Block last = pending.peekLast();
            if (last == null || last.used == BLOCK_BYTES) {
                last = free.isEmpty() ? new Block(memory.allocate(BLOCK_BYTES)) : free.removeLast();
                last.used = 0;
                pending.addLast(last);
            }
            int copied = (int) Math.min(left, BLOCK_BYTES - last.used);
            Memory.copy(from, last.memory.address() + last.used, copied);
            last.used += copied;
            from += copied;
            left -= copied;
        }
        bytes += length;
    }

    /** Bytes that were not written yet. */
    public synchronized long bytes() {
        return bytes;
    }

    /** Writes what is pending now. Called by one thread. */
    public void writeTo(Snapshots.Output output) throws IOException {
        Block block = take();
        while (block != null) {
            output.write(block.memory.asSlice(0, block.used));
            block = recycle(block);
        }
    }

    private synchronized @org.jspecify.annotations.Nullable Block take() {
        return pending.pollFirst();
    }

    private synchronized @org.jspecify.annotations.Nullable Block recycle(Block written) {
        bytes -= written.used;
        free.addLast(written);
        return pending.pollFirst();
    }

    @Override
    public void close() {
        memory.close();
    }
}
