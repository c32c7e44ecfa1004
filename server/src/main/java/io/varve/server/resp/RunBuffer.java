package io.varve.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;

/**
 * Memory of a {@link ValueRun} as a buffer, of fixed size: a large value on its way out, or a connection's buffer that
 * lies outside of the pools. Confined to the event loop of its connection.
 *
 * <p>It holds the run, and what the objects around it take of the heap, until it is released.
 */
public final class RunBuffer extends UnpooledDirectByteBuf {
    /** The buffer, its views of the memory, the run, and the network's entry for it, bytes. */
    public static final int HEAP_BYTES = 512;

    private final ValueRun run;
    private final long address;
    private final ArgumentMemory heap;
    private final boolean value;

    private RunBuffer(ByteBufAllocator allocator, ValueRun run, long address, int length, ArgumentMemory heap,
            boolean value) {
        super(allocator, Memory.all().asSlice(address, length).asByteBuffer(), length);
        this.run = run;
        this.address = address;
        this.heap = heap;
        this.value = value;
    }

    /**
     * An empty buffer in memory of its own. Takes the caller's hold on the run over.
     *
     * @throws NoBufferException if the heap has no room for the objects; the hold is then released
     */
    public static RunBuffer empty(ByteBufAllocator allocator, ValueRun run, int length, ArgumentMemory heap) {
        take(heap, run);
        RunBuffer buffer = new RunBuffer(allocator, run, run.address(), length, heap, false);
        buffer.clear();
        return buffer;
    }

    /**
     * A large value's bytes, not to be written to. Takes the caller's hold on the run over.
     *
     * @param address of the first byte, in the run
     * @throws NoBufferException if the heap has no room for the objects; the hold is then released
     */
    static RunBuffer ofValue(ByteBufAllocator allocator, ValueRun run, long address, int length, ArgumentMemory heap) {
        take(heap, run);
        return new RunBuffer(allocator, run, address, length, heap, true);
    }

    private static void take(ArgumentMemory heap, ValueRun run) {
        if (!heap.take(HEAP_BYTES)) {
            run.release();
            throw NoBufferException.ofHeap();
        }
    }

    /** Whether it shows a value, so that its bytes are the cache's and not the connection's. */
    public boolean isValue() {
        return value;
    }

    @Override
    public boolean hasMemoryAddress() {
        return true;
    }

    @Override
    public long memoryAddress() {
        ensureAccessible();
        return address;
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        if (newCapacity != capacity()) {
            throw new UnsupportedOperationException("A run's size is fixed");
        }
        return this;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        run.release();
        heap.give(HEAP_BYTES);
    }
}
