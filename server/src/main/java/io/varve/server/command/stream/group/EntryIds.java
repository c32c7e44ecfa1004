package io.varve.server.command.stream.group;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.value.WorkMemory;

/**
 * A list of IDs that a command collects, off the heap. Confined to its event loop; reused from command to command, each
 * of which releases it at its end.
 */
final class EntryIds {
    private static final int ID_BYTES = 2 * Long.BYTES;

    private final CommandContext context;
    private final WorkMemory memory = new WorkMemory();
    private int size;

    EntryIds(CommandContext context) {
        this.context = context;
    }

    /**
     * Adds an ID.
     *
     * @throws io.varve.memory.item.CacheFullException if maxmemory is full: the command runs again after memory was
     *         freed
     */
    void add(long ms, long seq) {
        memory.require(context.cache(), (size + 1L) * ID_BYTES);
        long at = address(size++);
        Memory.putLong(at, ms);
        Memory.putLong(at + Long.BYTES, seq);
    }

    private long address(int index) {
        return memory.address() + (long) index * ID_BYTES;
    }

    int size() {
        return size;
    }

    long ms(int index) {
        return Memory.getLong(address(index));
    }

    long seq(int index) {
        return Memory.getLong(address(index) + Long.BYTES);
    }

    /** Empties the list. */
    void release() {
        size = 0;
        memory.release();
    }
}
