package io.varve.server.command.text;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.server.resp.Numbers;

/**
 * The decimal form of a number in native memory of its own, beside the scratch memory of the command. Confined to its
 * event loop; what was written is valid until the next number is.
 */
public final class NumberText {
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(Numbers.MAX_LONG_CHARS);
    private final long address = MemorySegment.ofBuffer(buffer).address();

    /** Writes a number; answers where. It has {@link Numbers#longChars} bytes. */
    public long write(long value) {
        Numbers.putLong(address, value);
        return address;
    }
}
