package io.varve.server.rdb;

import io.varve.memory.offheap.Memory;

/**
 * Decompresses LZF; {@link LzfPacker} compresses. Immutable: static methods only.
 *
 * <p>A control byte below 32 is the count of literal bytes that follow, minus one. Any other control byte refers back
 * to bytes that are already decompressed. Its upper three bits are the count minus two; if all three are set, a further
 * byte is added to them. Its lower five bits and another byte are the distance minus one.
 */
final class Lzf {
    /** Three bytes of the compressed form expand to at most 264. */
    static final int MAX_EXPANSION = 88;

    private Lzf() {}

    /** @throws CorruptPayloadException if the result does not have exactly the expected length */
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
            // The ranges may overlap, and the copy then repeats itself.
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
