package io.varve.server.command.value;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.Cache;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * An arena for bytes that a command copies while it runs, off the heap and charged to maxmemory. Confined to its event
 * loop; reused from command to command, each of which releases it at its end. Copied bytes do not move.
 *
 * <p>A small buffer is kept; more is charged to maxmemory until the release.
 */
public final class TextMemory {
    /** Not charged, and kept: a run costs two system calls, and a load may need texts for each key. */
    private static final int KEPT_BYTES = 8 << 10;
    private static final int FIRST_BLOCK_BYTES = 16 << 10;
    /** Large, so that there are few blocks for any size: each block is a heap object. */
    private static final int MAX_BLOCK_BYTES = 4 << 20;

    private final List<ValueRun> blocks = new ArrayList<>(0);
    private @Nullable ByteBuffer kept;
    private long keptAddress;
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
        if (end - at < length && !useKept(length)) {
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

    /** @return false if the small buffer is in use, or too small */
    private boolean useKept(int length) {
        if (end != 0 || length > KEPT_BYTES) {
            return false;
        }
        if (kept == null) {
            kept = ByteBuffer.allocateDirect(KEPT_BYTES);
            // Once only, because a segment is an object.
            keptAddress = MemorySegment.ofBuffer(kept).address();
        }
        at = keptAddress;
        end = at + KEPT_BYTES;
        return true;
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
