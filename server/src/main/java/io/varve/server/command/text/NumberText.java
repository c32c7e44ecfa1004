package io.varve.server.command.text;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.server.resp.Numbers;

/**
 * The decimal text of one number, in native memory that the command's scratch memory does not overlap. Confined to its
 * event loop; the text is valid until the next call of {@link #write}.
 */
public final class NumberText {
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(Numbers.MAX_LONG_CHARS);
    private final long address = MemorySegment.ofBuffer(buffer).address();

    /** Writes a number as {@link Numbers#longChars} characters, and returns their address. */
    public long write(long value) {
        Numbers.putLong(address, value);
        return address;
    }
}
