package io.varve.memory.collection;

import java.lang.foreign.Arena;

import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

/**
 * Memory for a packed value and for its arguments, exactly as long as the value may be, so that an access beyond it is
 * an error. Confined to the test's thread.
 */
public final class PackedBuffer implements AutoCloseable {
    private final Arena arena = Arena.ofConfined();
    private final long address;
    private final long argument;

    /** @param bytes of the largest value */
    public PackedBuffer(int bytes, int argumentBytes) {
        address = arena.allocate(bytes).address();
        argument = arena.allocate(argumentBytes).address();
        LiveRanges.add(argument, argumentBytes);
        LiveRanges.add(address, 1);
    }

    /** The address of the value. */
    public long address() {
        return address;
    }

    /** The address of the buffer to which {@link #write} writes new content. */
    public long argument() {
        return argument;
    }

    /** From now on the value may be so long. */
    public void resize(long bytes) {
        LiveRanges.remove(address);
        LiveRanges.add(address, bytes);
    }

    /** Writes an argument; answers its length. */
    public int write(String text) {
        byte[] bytes = text.getBytes(ISO_8859_1);
        Memory.copy(bytes, 0, argument, bytes.length);
        return bytes.length;
    }

    public static String read(long from, int length) {
        return new String(Memory.toArray(from, length), ISO_8859_1);
    }

    @Override
    public void close() {
        LiveRanges.remove(argument);
        LiveRanges.remove(address);
        arena.close();
    }
}
