package io.varve.server.replication;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.LongSupplier;

import io.varve.memory.offheap.Memory;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.system.NativeMemory;

/**
 * The last part of the change stream, off the heap: what replicas still need, and at least {@code repl-backlog-size}
 * bytes for those that come back. All replicas read the same bytes. Guarded by its own monitor, the last in the lock
 * order.
 */
final class Backlog implements ChangeStream.Copies, AutoCloseable {
    /** {@link #read} returns it if the backlog does not have the offset. */
    static final int GONE = -1;
    private static final int BLOCK_BYTES = 64 << 10;
    /** Freeing memory stops all threads for a moment, so some of it is kept for the next bytes. */
    private static final int MAX_SPARE_BLOCKS = 16;

    /** A piece of memory. All but the last one are full. */
    private static final class Block {
        private final NativeMemory owner = new NativeMemory();
        private final long address = owner.allocate(BLOCK_BYTES).address();
    }

    private final LongSupplier keptBytes;
    private final LongSupplier neededOffset;
    private final Runnable onAppended;
    private final List<Block> blocks = new ArrayList<>();
    private final Deque<Block> spare = new ArrayDeque<>();
    /** To be freed without the monitor, and without locks that the caller of append holds. */
    private final List<Block> surplus = new ArrayList<>();
    /** The offset of the first block's first byte. */
    private long start;
    private long end;
    private boolean failed;

    /**
     * @param keptBytes how much to keep for replicas that come back
     * @param neededOffset the first offset that a replica still needs; called under the monitor
     * @param onAppended called under the monitor when commands are complete
     */
    Backlog(LongSupplier keptBytes, LongSupplier neededOffset, Runnable onAppended) {
        this.keptBytes = keptBytes;
        this.neededOffset = neededOffset;
        this.onAppended = onAppended;
    }

    /** Begins anew, at an offset of the stream. */
    synchronized void begin(long offset) {
        free(blocks.size());
        start = offset;
        end = offset;
        failed = false;
    }

    @Override
    public synchronized void append(byte[] bytes) {
        int done = 0;
        while (done < bytes.length && !failed) {
            int copied = Math.min(bytes.length - done, room());
            if (copied > 0) {
                Memory.copy(bytes, done, writeAddress(), copied);
            }
            end += copied;
            done += copied;
        }
    }

    @Override
    public synchronized void append(long address, long length) {
        long done = 0;
        while (done < length && !failed) {
            long copied = Math.min(length - done, room());
            if (copied > 0) {
                Memory.copy(address + done, writeAddress(), copied);
            }
            end += copied;
            done += copied;
        }
    }

    private long writeAddress() {
        return blocks.getLast().address + (end - start) % BLOCK_BYTES;
    }

    /** Free bytes at the end of the last block, which it allocates if necessary; 0 after a failure to do so. */
    private int room() {
        long capacity = start + (long) blocks.size() * BLOCK_BYTES;
        if (capacity == end) {
            trim();
            try {
                blocks.add(spare.isEmpty() ? new Block() : spare.removeLast());
            } catch (OutOfMemoryError none) {
                failed = true;
                return 0;
            }
            capacity += BLOCK_BYTES;
        }
        return (int) (capacity - end);
    }

    private void trim() {
        long kept = Math.min(neededOffset.getAsLong(), end - keptBytes.getAsLong());
        int passed = Math.clamp((kept - start) / BLOCK_BYTES, 0, blocks.size());
        free(passed);
        start += (long) passed * BLOCK_BYTES;
    }

    private void free(int count) {
        List<Block> first = blocks.subList(0, count);
        for (Block block : first) {
            if (spare.size() < MAX_SPARE_BLOCKS) {
                spare.addLast(block);
            } else {
                surplus.add(block);
            }
        }
        first.clear();
    }

    /** Frees memory that is not needed any more. Called periodically. */
    void releaseSurplus() {
        List<Block> released;
        synchronized (this) {
            released = List.copyOf(surplus);
            surplus.clear();
        }
        released.forEach(block -> block.owner.close());
    }

    @Override
    public synchronized void appended() {
        onAppended.run();
    }

    @Override
    public synchronized void failed() {
        failed = true;
        onAppended.run();
    }

    /** Whether a change is missing: all replicas have to begin anew. */
    synchronized boolean hasFailed() {
        return failed;
    }

    /**
     * Copies bytes.
     *
     * @return how many; 0 if the offset is the end; {@link #GONE}
     */
    synchronized int read(long offset, long address, int capacity) {
        if (!has(offset)) {
            return GONE;
        }
        int copied = 0;
        while (copied < capacity && offset + copied < end) {
            long at = offset + copied;
            int inBlock = (int) ((at - start) % BLOCK_BYTES);
            int count = (int) Math.min(Math.min(BLOCK_BYTES - inBlock, end - at), capacity - copied);
            Memory.copy(blocks.get((int) ((at - start) / BLOCK_BYTES)).address + inBlock, address + copied, count);
            copied += count;
        }
        return copied;
    }

    /** Whether reading can begin at this offset. */
    synchronized boolean has(long offset) {
        return !failed && offset >= start && offset <= end;
    }

    /** The offset of its first byte. */
    synchronized long start() {
        return start;
    }

    /** The offset behind its last byte. */
    synchronized long end() {
        return end;
    }

    /** Memory that it takes. */
    synchronized long bytes() {
        return (long) (blocks.size() + spare.size() + surplus.size()) * BLOCK_BYTES;
    }

    /** Drops all bytes. {@link #releaseSurplus} frees their memory. */
    synchronized void clear() {
        free(blocks.size());
        surplus.addAll(spare);
        spare.clear();
        start = end;
    }

    @Override
    public void close() {
        clear();
        releaseSurplus();
    }
}
