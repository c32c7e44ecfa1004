package io.varve.server.command.value;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;

/**
 * An arena for bytes that a command copies while it runs, off the heap and charged to maxmemory. Confined to its event
 * loop; reused from command to command, each of which releases it at its end. Copied bytes do not move.
 */
public final class TextMemory {
    private static final int FIRST_BLOCK_BYTES = 16 << 10;
    /** Large, so that there are few blocks for any size: each block is a heap object. */
    private static final int MAX_BLOCK_BYTES = 4 << 20;

    private final List<ValueRun> blocks = new ArrayList<>(0);
    private long at;
    private long end;
    private int next = FIRST_BLOCK_BYTES;
    private long held;

    /**
     * Copies bytes.
     *
     * @return their address, valid until {@link #release}
     * @throws CacheFullException if maxmemory is full: the command runs again after memory was freed
     */
    public long add(Cache cache, long address, int length) {
        long copy = take(cache, length);
        Memory.copy(address, copy, length);
        return copy;
    }

    /** Allocates bytes for the caller to write; otherwise like {@link #add}. */
    public long take(Cache cache, int length) {
        if (end - at < length) {
            int size = Math.max(length, next);
            ValueRun block = cache.newBuffer(size);
            if (block == null) {
                throw CacheFullException.of(size);
            }
            held += size;
            blocks.add(block);
            next = Math.min(MAX_BLOCK_BYTES, 2 * next);
            at = block.address();
            end = at + block.length();
        }
        long taken = at;
        at += length;
        return taken;
    }

    /** Bytes charged to maxmemory. */
    public long heldBytes() {
        return held;
    }

    /** Releases all bytes. */
    public void release() {
        blocks.forEach(ValueRun::release);
        blocks.clear();
        at = 0;
        end = 0;
        next = FIRST_BLOCK_BYTES;
        held = 0;
    }
}
