package io.varve.server.command.spec;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.pubsub.Name;

/** Matches channel names on the heap against glob patterns. Confined to one thread at a time. */
public final class ChannelMatcher {
    private static final int MIN_BYTES = 4096;

    private ByteBuffer buffer = ByteBuffer.allocateDirect(MIN_BYTES);

    /** @param pattern must have its own byte array */
    public boolean matches(Name pattern, byte[] channel) {
        int bytes = pattern.length() + channel.length;
        if (bytes > buffer.capacity()) {
            // The garbage collector frees the old memory; growth is bounded, because names have a maximum length.
            buffer = ByteBuffer.allocateDirect(bytes + bytes / 2);
        }
        long address = MemorySegment.ofBuffer(buffer).address();
        Memory.copy(pattern.bytes(), 0, address, pattern.length());
        Memory.copy(channel, 0, address + pattern.length(), channel.length);
        return GlobPattern.matches(address, pattern.length(), address + pattern.length(), channel.length);
    }
}
