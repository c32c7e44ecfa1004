package io.varve.memory.collection.hyperloglog;

import io.varve.memory.offheap.Memory;

/**
 * The byte layout of a HyperLogLog: its header, and the registers in either encoding. Immutable: static methods only.
 *
 * <pre>
 *  0        4          5         8                  16
 *  +--------+----------+---------+------------------+------------------------------------
 *  | "HYLL" | encoding | (zeros) | cached estimate  | registers
 *  | 4 B    | 1 B      | 3 B     | 8 B, low first   | dense: 12288 B, sparse: opcodes
 *  +--------+----------+---------+------------------+------------------------------------
 *
 *  dense (encoding 0): register i has the 6 bits from bit 6 i on, low bits of a byte first
 *
 *  sparse (encoding 1): opcodes in the order of the registers
 *    00llllll           ZERO   l + 1 registers are 0
 *    01llllll llllllll  XZERO  l + 1 registers are 0, high bits first
 *    1vvvvvll           VAL    l + 1 registers are v + 1
 * </pre>
 *
 * <p>The highest bit of the estimate marks it as out of date.
 */
final class HyperLogLogLayout {
    static final int MAGIC = 'H' | 'Y' << 8 | 'L' << 16 | 'L' << 24;
    static final int ENCODING_OFFSET = 4;
    static final int ESTIMATE_OFFSET = 8;
    static final int REGISTERS_OFFSET = 16;

    static final int DENSE = 0;
    static final int SPARSE = 1;

    /** Bits of a hash that choose the register. */
    static final int INDEX_BITS = 14;
    static final int REGISTERS = 1 << INDEX_BITS;
    static final int REGISTER_BITS = 6;
    static final int REGISTER_MASK = (1 << REGISTER_BITS) - 1;
    static final int DENSE_BYTES = REGISTERS_OFFSET + REGISTERS * REGISTER_BITS / Byte.SIZE;

    static final int MAX_ZERO_LENGTH = 64;
    static final int MAX_XZERO_LENGTH = 1 << 14;
    static final int MAX_VALUE_LENGTH = 4;
    /** The largest register that the sparse encoding can hold. */
    static final int MAX_SPARSE_VALUE = 32;

    private static final int OUT_OF_DATE_OFFSET = ESTIMATE_OFFSET + Long.BYTES - 1;
    private static final int OUT_OF_DATE = 1 << 7;

    private HyperLogLogLayout() {}

    static int encoding(long hll) {
        return Memory.getByte(hll + ENCODING_OFFSET);
    }

    static void encoding(long hll, int encoding) {
        Memory.putByte(hll + ENCODING_OFFSET, (byte) encoding);
    }

    static long estimate(long hll) {
        return Memory.getLong(hll + ESTIMATE_OFFSET);
    }

    static void estimate(long hll, long value) {
        Memory.putLong(hll + ESTIMATE_OFFSET, value);
    }

    static void outdate(long hll) {
        long at = hll + OUT_OF_DATE_OFFSET;
        Memory.putByte(at, (byte) (Memory.getByte(at) | OUT_OF_DATE));
    }

    /** Writes a header; the estimate is 0 and up to date. */
    static void begin(long hll, int encoding) {
        Memory.putInt(hll, MAGIC);
        Memory.putInt(hll + ENCODING_OFFSET, encoding);
        Memory.putLong(hll + ESTIMATE_OFFSET, 0);
    }

    // --- opcodes

    static boolean isXzero(int opcode) {
        return (opcode & 0xC0) == 0x40;
    }

    static boolean isValue(int opcode) {
        return (opcode & 0x80) != 0;
    }

    /** The number of registers of the opcode at an address. A truncated byte at the end reads as 0. */
    static int length(long at, long end) {
        int opcode = Memory.getByte(at);
        if (isValue(opcode)) {
            return (opcode & 0x3) + 1;
        }
        int length = opcode & 0x3F;
        if (isXzero(opcode)) {
            int low = at + 1 < end ? Memory.getByte(at + 1) & 0xFF : 0;
            length = length << Byte.SIZE | low;
        }
        return length + 1;
    }

    /** The register value of a VAL opcode. */
    static int value(int opcode) {
        return (opcode >> 2 & 0x1F) + 1;
    }

    static int bytes(int opcode) {
        return isXzero(opcode) ? 2 : 1;
    }

    /** Writes the shortest opcode for registers that are 0; returns its end. */
    static long putZeros(long at, int length) {
        if (length > MAX_ZERO_LENGTH) {
            Memory.putByte(at, (byte) (length - 1 >> Byte.SIZE | 0x40));
            Memory.putByte(at + 1, (byte) (length - 1));
            return at + 2;
        }
        Memory.putByte(at, (byte) (length - 1));
        return at + 1;
    }

    /** Writes a VAL opcode; returns its end. */
    static long putValue(long at, int value, int length) {
        Memory.putByte(at, (byte) (value - 1 << 2 | length - 1 | 0x80));
        return at + 1;
    }
}
