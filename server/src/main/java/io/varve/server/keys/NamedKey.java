package io.varve.server.keys;

import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * A key of a logical database, kept on the heap. Immutable.
 *
 * @param name its bytes as ISO 8859-1
 */
public record NamedKey(int database, String name) {
    /** What copying a key of so many bytes takes, and keeping it: they are there twice meanwhile. */
    public static long heapBytes(int length) {
        return 2L * length;
    }

    /** Copies the bytes. */
    public static NamedKey of(int database, long address, int length) {
        return new NamedKey(database, new String(Memory.toArray(address, length), StandardCharsets.ISO_8859_1));
    }

    /** The bytes of its name. */
    public byte[] bytes() {
        return name.getBytes(StandardCharsets.ISO_8859_1);
    }
}
