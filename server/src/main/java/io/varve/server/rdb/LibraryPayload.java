package io.varve.server.rdb;

import java.nio.charset.StandardCharsets;
import java.util.Collection;

import io.varve.memory.offheap.Memory;

/**
 * The payload of FUNCTION DUMP: libraries as in an RDB file, a version and a checksum. Immutable: static methods only.
 */
public final class LibraryPayload {
    /** A length of 32 bits in network order. */
    private static final int WIDE_LENGTH = 0x80;
    /** An opcode and a length. */
    private static final int HEAD_BYTES = 2 + Integer.BYTES;
    /** The source is read into the heap. The libraries that a server admits are far shorter. */
    private static final int MAX_SOURCE_BYTES = 8 << 20;

    private LibraryPayload() {}

    /** Receives the sources of libraries. */
    @FunctionalInterface
    public interface Sink<E extends Exception> {
        /** @throws E if the library cannot be used */
        void library(byte[] source) throws E;
    }

    /**
     * Writes a payload of the format that Redis 7 writes.
     *
     * @return its length in bytes; it begins at the start of the memory
     */
    public static int write(Collection<byte[]> sources, GrowingMemory memory) {
        long bytes = PayloadLayout.FOOTER_BYTES;
        for (byte[] source : sources) {
            bytes += HEAD_BYTES + source.length;
        }
        long base = memory.require(bytes);
        long at = base;
        for (byte[] source : sources) {
            Memory.putByte(at, (byte) RdbFileLayout.FUNCTION);
            Memory.putByte(at + 1, (byte) WIDE_LENGTH);
            Memory.putInt(at + 2, Integer.reverseBytes(source.length));
            Memory.copy(source, 0, at + HEAD_BYTES, source.length);
            at += HEAD_BYTES + source.length;
        }
        Memory.putShort(at, (short) PayloadLayout.VERSION);
        at += PayloadLayout.VERSION_BYTES;
        Memory.putLong(at, Crc64.of(base, at - base));
        return Math.toIntExact(bytes);
    }

    /**
     * Reads the libraries of a payload that is {@link PayloadReader#isIntact}.
     *
     * @param memory holds sources that are compressed
     * @param notALibrary thrown if something else precedes the end
     * @throws CorruptPayloadException if a library is malformed
     */
    public static <E extends Exception> void read(long payload, int length, PayloadMemory memory, E notALibrary,
            Sink<E> sink) throws E {
        PayloadInput input = new PayloadInput(memory);
        input.begin(payload, (long) length - PayloadLayout.FOOTER_BYTES);
        while (input.left() > 0) {
            int code = input.readByte();
            if (code != RdbFileLayout.FUNCTION && code != RdbFileLayout.FUNCTION_EARLY) {
                throw notALibrary;
            }
            sink.library(readSource(input, code));
        }
    }

    /** Reads a library after its opcode. Release candidates of Redis 7 have written its name and engine apart. */
    static byte[] readSource(PayloadInput input, int code) {
        if (code == RdbFileLayout.FUNCTION) {
            return readText(input);
        }
        String name = new String(readText(input), StandardCharsets.ISO_8859_1);
        String engine = new String(readText(input), StandardCharsets.ISO_8859_1);
        if (input.readLength() != 0) {
            input.skipText();
        }
        String body = new String(readText(input), StandardCharsets.ISO_8859_1);
        return ("#!" + engine + " name=" + name + "\n" + body).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] readText(PayloadInput input) {
        input.readText();
        PayloadInput.require(input.textLength() <= MAX_SOURCE_BYTES);
        return Memory.toArray(input.text(), input.textLength());
    }
}
