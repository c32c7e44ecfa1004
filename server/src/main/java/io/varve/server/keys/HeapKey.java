package io.varve.server.keys;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * A key of a logical database, copied to the heap. Immutable.
 *
 * @param name its bytes as ISO 8859-1
 */
public record HeapKey(int database, String name) {
    /** Heap bytes to copy a key and keep it: two copies exist during the copy. */
    public static long heapBytes(int length) {
        return 2L * length;
    }

    /** Copies the bytes. */
    public static HeapKey of(int database, long address, int length) {
        return new HeapKey(database, new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1));
    }

    /** The bytes of its name. */
    public byte[] bytes() {
        return name.getBytes(StandardCharsets.ISO_8859_1);
    }
}
