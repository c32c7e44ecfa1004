package io.varve.server.acl;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.varve.memory.offheap.Memory;

/**
 * A pattern of keys or channels, off the heap so that it is matched where requests lie. Immutable.
 *
 * <p>Text is ISO 8859-1 here and in all of this room: each char is a byte.
 */
final class Pattern {
    private final String text;
    /** Holds the memory for as long as the pattern lives. */
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
            // SAFETY: the user may be replaced meanwhile, and the memory goes with the last reference to it.
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

    /** As a rule about keys. One rule has to differ from what Redis tells, who would not understand it: {@code ~*} forbids all others. */
    String keyRule() {
        String permissions = read && write ? text.equals("*") ? "%RW" : "" : read ? "%R" : "%W";
        return permissions + "~" + text;
    }
}
