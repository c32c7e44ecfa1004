package io.varve.server.acl;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * A key or channel pattern in native memory, so that it is matched against request bytes in place. Immutable.
 *
 * <p>All text in this package is ISO 8859-1: each char is a byte.
 */
final class Pattern {
    private final String text;
    /** Keeps the memory reachable as long as the pattern. */
    private final ByteBuffer bytes;
    private final long address;
    private final boolean read;
    private final boolean write;

    private Pattern(String text, boolean read, boolean write) {
        this.text = text;
        this.read = read;
        this.write = write;
        byte[] content = text.getBytes(StandardCharsets.ISO_8859_1);
        bytes = ByteBuffer.allocateDirect(Math.max(1, content.length)).put(0, content);
        address = MemorySegment.ofBuffer(bytes).address();
    }

    static Pattern ofKeys(String text, boolean read, boolean write) {
        return new Pattern(text, read, write);
    }

    static Pattern ofChannels(String text) {
        return new Pattern(text, true, true);
    }

    String text() {
        return text;
    }

    boolean read() {
        return read;
    }

    boolean write() {
        return write;
    }

    /** @param access {@link AccessRequest#READ} and {@link AccessRequest#WRITE} */
    boolean permits(int access) {
        return (read || (access & AccessRequest.READ) == 0) && (write || (access & AccessRequest.WRITE) == 0);
    }

    boolean matches(GlobMatch glob, long textAddress, int length) {
        try {
            return glob.matches(address, text.length(), textAddress, length);
        } finally {
            // SAFETY: another thread may replace the user, and the memory is freed with its last reference.
            Reference.reachabilityFence(bytes);
        }
    }

    boolean isSame(long otherAddress, int length) {
        if (length != text.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            // Each char is a byte.
            if ((byte) text.charAt(i) != Memory.getByte(otherAddress + i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * The pattern as a rule about keys. One rule differs from Redis's output, which Redis itself could not parse:
     * {@code ~*} excludes all other patterns.
     */
    String keyRule() {
        String permissions = read && write ? text.equals("*") ? "%RW" : "" : read ? "%R" : "%W";
        return permissions + "~" + text;
    }
}
