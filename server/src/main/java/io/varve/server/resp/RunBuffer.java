package io.varve.server.resp;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;

/**
 * The memory of a {@link ValueRun} as a buffer of fixed size: a large value that is being sent, or a connection's
 * buffer outside the pools. Confined to the event loop of its connection.
 *
 * <p>Until its release it holds the run, and the heap budget of the objects around it.
 */
public final class RunBuffer extends UnpooledDirectByteBuf {
    /** Heap bytes of the buffer, its views of the memory, the run, and the network's entry for it. */
    public static final int HEAP_BYTES = 512;

    private final ValueRun run;
    private final long address;
    private final RequestHeapBudget heap;
    private final boolean value;

    private RunBuffer(ByteBufAllocator allocator, ValueRun run, long address, int length, RequestHeapBudget heap,
            boolean value) {
        super(allocator, Memory.all().asSlice(address, length).asByteBuffer(), length);
        this.run = run;
        this.address = address;
        this.heap = heap;
        this.value = value;
    }

    /**
     * Creates an empty buffer over a run. Takes over the caller's reference to the run.
     *
     * @throws NoBufferException if the heap budget is exhausted; the reference is then released
     */
    public static RunBuffer empty(ByteBufAllocator allocator, ValueRun run, int length, RequestHeapBudget heap) {
        take(heap, run);
        RunBuffer buffer = new RunBuffer(allocator, run, run.address(), length, heap, false);
        buffer.clear();
        return buffer;
    }

    /**
     * Creates a read-only buffer over a large value's bytes. Takes over the caller's reference to the run.
     *
     * @param address the address of the first byte, in the run
     * @throws NoBufferException if the heap budget is exhausted; the reference is then released
     */
    static RunBuffer ofValue(ByteBufAllocator allocator, ValueRun run, long address, int length,
            RequestHeapBudget heap) {
        take(heap, run);
        return new RunBuffer(allocator, run, address, length, heap, true);
    }

    private static void take(RequestHeapBudget heap, ValueRun run) {
        if (!heap.tryReserve(HEAP_BYTES)) {
            run.release();
            throw NoBufferException.ofHeap();
        }
    }

    /** Whether it shows a value, so that its bytes belong to the cache and not to the connection. */
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
            throw new UnsupportedOperationException("The size of a run is fixed");
        }
        return this;
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        run.release();
        heap.release(HEAP_BYTES);
    }
}
