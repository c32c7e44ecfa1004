package io.varve.server.command.string;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * A string value as it was under its shard's lock, for reads without the lock. Confined to one command. A large string
 * is held by its run, which is immutable while it is retained; a short one is copied to the heap.
 */
final class HeldString implements AutoCloseable {
    private static final byte[] NOTHING = {};

    private final int length;
    private final byte[] copy;
    private final @Nullable ValueRun run;
    private final long address;

    private HeldString(int length, byte[] copy, @Nullable ValueRun run, long address) {
        this.length = length;
        this.copy = copy;
        this.run = run;
        this.address = address;
    }

    /**
     * Retains or copies an item's value; the item's shard is locked.
     *
     * @param length length of the value; 0 if there is no item
     */
    static HeldString of(CacheSession session, Item item, int length) {
        if (length == 0) {
            return new HeldString(0, NOTHING, null, 0);
        }
        ValueRun run = session.runOf(item);
        if (run == null) {
            return new HeldString(length, Memory.toArray(item.valueAddress(), length), null, 0);
        }
        run.retain();
        return new HeldString(length, NOTHING, run, item.valueAddress());
    }

    /** Heap bytes that {@link #of} will take. */
    static int heapBytes(CacheSession session, Item item, int length) {
        return length == 0 || session.runOf(item) != null ? 0 : length;
    }

    int length() {
        return length;
    }

    byte at(int index) {
        return run == null ? copy[index] : Memory.getByte(address + index);
    }

    /** All bytes on the heap: the copy itself if there is one. */
    byte[] toArray() {
        return run == null ? copy : Memory.toArray(address, length);
    }

    /** Releases the run. */
    @Override
    public void close() {
        if (run != null) {
            run.release();
        }
    }
}
