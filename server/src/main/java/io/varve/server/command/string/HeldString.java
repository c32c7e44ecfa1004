package io.varve.server.command.string;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Item;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * A string as it was when its shard was locked, for who reads it without the lock: a large one by its run, which nobody changes while it
 * is held, a short one as a copy on the heap. Confined to one command.
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
     * Takes hold of an item's value, its shard locked.
     *
     * @param length of the value; 0 if there is no item
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

    /** What {@link #of} will take of the heap, bytes. */
    static int heapBytes(CacheSession session, Item item, int length) {
        return length == 0 || session.runOf(item) != null ? 0 : length;
    }

    int length() {
        return length;
    }

    byte at(int index) {
        return run == null ? copy[index] : Memory.getByte(address + index);
    }

    /** All of it on the heap: the copy itself where there is one. */
    byte[] toArray() {
        return run == null ? copy : Memory.toArray(address, length);
    }

    /** Lets go of the run. */
    @Override
    public void close() {
        if (run != null) {
            run.release();
        }
    }
}
