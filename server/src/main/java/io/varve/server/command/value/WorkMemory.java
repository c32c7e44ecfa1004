package io.varve.server.command.value;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.Cache;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Growable native memory for one running command. Confined to its event loop; reused from command to command, each of
 * which releases it at its end.
 *
 * <p>A small buffer is kept; more is charged to maxmemory until the release.
 */
public final class WorkMemory {
    private static final int KEPT_BYTES = 8 << 10;
    /**
     * From this size on it grows by half instead of doubling: while it grows, the old and the new bytes are both
     * charged.
     */
    private static final int LARGE_BYTES = 1 << 20;
    private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

    private @Nullable ByteBuffer kept;
    private long keptAddress;
    private @Nullable ValueRun run;
    private long address;
    private int capacity;

    /**
     * Ensures this capacity; keeps the content, but may move it.
     *
     * @throws CacheFullException if maxmemory is full: the command runs again after memory was freed
     */
    public void require(Cache cache, long bytes) {
        if (bytes <= capacity) {
            return;
        }
        if (bytes <= KEPT_BYTES) {
            if (kept == null) {
                kept = ByteBuffer.allocateDirect(KEPT_BYTES);
                // Once only, because a segment is an object.
                keptAddress = MemorySegment.ofBuffer(kept).address();
            }
            address = keptAddress;
            capacity = KEPT_BYTES;
            return;
        }
        long grown = capacity < LARGE_BYTES ? 2L * capacity : capacity + capacity / 2L;
        long wanted = Math.min(MAX_BYTES, Math.max(bytes, grown));
        if (wanted < bytes) {
            throw CacheFullException.TOO_LARGE;
        }
        ValueRun larger = cache.newBuffer((int) wanted);
        if (larger == null) {
            // Both are needed at the same time when the command runs again.
            throw CacheFullException.of(wanted + heldBytes());
        }
        Memory.copy(address, larger.address(), capacity);
        release();
        run = larger;
        address = larger.address();
        capacity = larger.length();
    }

    /** The current address, valid until more is required. */
    public long address() {
        return address;
    }

    /** Bytes charged to maxmemory. */
    public long heldBytes() {
        return run == null ? 0 : capacity;
    }

    /** The run of the bytes, for callers that keep them longer than the command; null if there is none. */
    public @Nullable ValueRun run() {
        return run;
    }

    /** Releases the charged bytes. */
    public void release() {
        ValueRun given = run;
        run = null;
        address = 0;
        capacity = 0;
        if (given != null) {
            given.release();
        }
    }
}
