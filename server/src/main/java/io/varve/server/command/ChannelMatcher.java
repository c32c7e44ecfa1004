package io.varve.server.command;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.text.GlobPattern;
import io.varve.server.pubsub.Name;

/** Matches names of channels that lie on the heap with patterns. Confined to one thread at a time. */
final class ChannelMatcher {
    private static final int LEAST_BYTES = 4096;

    private ByteBuffer buffer = ByteBuffer.allocateDirect(LEAST_BYTES);

    /** @param pattern with bytes of its own */
    boolean matches(Name pattern, byte[] channel) {
        int bytes = pattern.length() + channel.length;
        if (bytes > buffer.capacity()) {
            // The old memory goes with the collector: there is a longest name.
            buffer = ByteBuffer.allocateDirect(bytes + bytes / 2);
        }
        long address = MemorySegment.ofBuffer(buffer).address();
        Memory.copy(pattern.bytes(), 0, address, pattern.length());
        Memory.copy(channel, 0, address + pattern.length(), channel.length);
        return GlobPattern.matches(address, pattern.length(), address + pattern.length(), channel.length);
    }
}
