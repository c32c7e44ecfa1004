package io.varve.server.command.value;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;

/**
 * Bytes that a command copies for as long as it runs, off the heap and charged to maxmemory; they stay where they are. Confined to its
 * event loop; reused from command to command, each of which gives it back at its end.
 */
public final class TextMemory {
    private static final int FIRST_BLOCK_BYTES = 16 << 10;
    /** So that there are few blocks, however many bytes: each is an object on the heap. */
    private static final int MOST_BLOCK_BYTES = 4 << 20;

    private final List<ValueRun> blocks = new ArrayList<>(0);
    private long at;
    private long end;
    private int next = FIRST_BLOCK_BYTES;
    private long held;

    /**
     * Copies bytes.
     *
     * @return where they are, until {@link #release}
     * @throws CacheFullException if maxmemory has no room for them: the command is run again when there is
     */
    public long add(Cache cache, long address, int length) {
        long copy = take(cache, length);
        Memory.copy(address, copy, length);
        return copy;
    }

    /** So many bytes to be written by the caller; otherwise as {@link #add}. */
    public long take(Cache cache, int length) {
        if (end - at < length) {
            int size = Math.max(length, next);
            ValueRun block = cache.newBuffer(size);
            if (block == null) {
                throw CacheFullException.of(size);
            }
            held += size;
            blocks.add(block);
            next = Math.min(MOST_BLOCK_BYTES, 2 * next);
            at = block.address();
            end = at + block.length();
        }
        long taken = at;
        at += length;
        return taken;
    }

    /** What is charged to maxmemory. */
    public long heldBytes() {
        return held;
    }

    /** Gives all of it back. */
    public void release() {
        blocks.forEach(ValueRun::release);
        blocks.clear();
        at = 0;
        end = 0;
        next = FIRST_BLOCK_BYTES;
        held = 0;
    }
}
