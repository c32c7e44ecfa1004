package io.varve.server.rdb;

import io.varve.memory.offheap.Memory;

/**
 * Unpacks what LZF has packed. Immutable: static methods only.
 *
 * <p>A control byte below 32 says how many bytes, less one, follow as they are. Any other refers to bytes that were unpacked before:
 * its upper three bits, and a byte behind it where they are all set, say how many, less two; its lower five with another byte how far
 * back, less one.
 */
final class Lzf {
    /** Three bytes of the packed form stand for 264 at most. */
    static final int MOST_EXPANSION = 88;

    private Lzf() {}

    /** @throws CorruptPayloadException if it does not come to exactly so many bytes */
    static void unpack(long packed, int packedLength, long to, int length) {
        long in = packed;
        long inEnd = packed + packedLength;
        long out = to;
        long outEnd = to + length;
        while (in < inEnd) {
            int control = Memory.getByte(in++) & 0xFF;
            if (control < 32) {
                int literal = control + 1;
                require(literal <= inEnd - in && literal <= outEnd - out);
                Memory.copy(in, out, literal);
                in += literal;
                out += literal;
                continue;
            }
            int count = control >>> 5;
            require(inEnd - in > (count == 7 ? 1 : 0));
            count += 2 + (count == 7 ? Memory.getByte(in++) & 0xFF : 0);
            long from = out - ((control & 0x1F) << 8 | Memory.getByte(in++) & 0xFF) - 1;
            require(from >= to && count <= outEnd - out);
            // It may overlap, and then repeats itself.
            for (int i = 0; i < count; i++) {
                Memory.putByte(out++, Memory.getByte(from++));
            }
        }
        require(out == outEnd);
    }

    private static void require(boolean good) {
        if (!good) {
            throw new CorruptPayloadException();
        }
    }
}
