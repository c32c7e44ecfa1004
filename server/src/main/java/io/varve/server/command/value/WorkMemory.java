package io.varve.server.command.value;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.Cache;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Native memory for what a command notes while it runs. Confined to its event loop; reused from command to command, each of
 * which gives it back at its end.
 *
 * <p>A little is always there; more is charged to maxmemory for as long as it is needed.
 */
public final class WorkMemory {
    private static final int KEPT_BYTES = 8 << 10;
    /** From here on it grows by half: while it grows, the bytes before and after are charged. */
    private static final int LARGE_BYTES = 1 << 20;
    private static final int MOST_BYTES = Integer.MAX_VALUE - 64;

    private @Nullable ByteBuffer kept;
    private long keptAddress;
    private @Nullable ValueRun run;
    private long address;
    private int capacity;

    /**
     * Makes sure that there are so many bytes; what was written stays, but may have moved.
     *
     * @throws CacheFullException if maxmemory has no room for them: the command is run again when there is
     */
    public void require(Cache cache, long bytes) {
        if (bytes <= capacity) {
            return;
        }
        if (bytes <= KEPT_BYTES) {
            if (kept == null) {
                kept = ByteBuffer.allocateDirect(KEPT_BYTES);
                // Once: a segment is an object.
                keptAddress = MemorySegment.ofBuffer(kept).address();
            }
            address = keptAddress;
            capacity = KEPT_BYTES;
            return;
        }
        long grown = capacity < LARGE_BYTES ? 2L * capacity : capacity + capacity / 2L;
        long wanted = Math.min(MOST_BYTES, Math.max(bytes, grown));
        if (wanted < bytes) {
            throw CacheFullException.TOO_LARGE;
        }
        ValueRun larger = cache.newBuffer((int) wanted);
        if (larger == null) {
            // Both are needed at a time, when the command runs again.
            throw CacheFullException.of(wanted + heldBytes());
        }
        Memory.copy(address, larger.address(), capacity);
        release();
        run = larger;
        address = larger.address();
        capacity = larger.length();
    }

    /** Where it is, until more is required. */
    public long address() {
        return address;
    }

    /** What is charged to maxmemory. */
    public long heldBytes() {
        return run == null ? 0 : capacity;
    }

    /** The run in which it is, for who keeps the bytes longer than the command; null if there is none. */
    public @Nullable ValueRun run() {
        return run;
    }

    /** Gives back what was charged. */
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
