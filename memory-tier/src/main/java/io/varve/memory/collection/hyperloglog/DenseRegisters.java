package io.varve.memory.collection.hyperloglog;

import io.varve.memory.offheap.Memory;

import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTERS;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTERS_OFFSET;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTER_BITS;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTER_MASK;

/** The registers of a dense HyperLogLog. Immutable: static methods only. */
final class DenseRegisters {
    private DenseRegisters() {}

    static int get(long hll, int index) {
        int bit = index * REGISTER_BITS;
        long at = hll + REGISTERS_OFFSET + (bit >>> 3);
        int skipped = bit & 7;
        int value = (Memory.getByte(at) & 0xFF) >>> skipped;
        if (skipped > Byte.SIZE - REGISTER_BITS) {
            value |= (Memory.getByte(at + 1) & 0xFF) << Byte.SIZE - skipped;
        }
        return value & REGISTER_MASK;
    }

    static void put(long hll, int index, int value) {
        int bit = index * REGISTER_BITS;
        long at = hll + REGISTERS_OFFSET + (bit >>> 3);
        int skipped = bit & 7;
        Memory.putByte(at, (byte) (Memory.getByte(at) & ~(REGISTER_MASK << skipped) | value << skipped));
        if (skipped > Byte.SIZE - REGISTER_BITS) {
            int rest = Byte.SIZE - skipped;
            Memory.putByte(at + 1,
                    (byte) (Memory.getByte(at + 1) & ~(REGISTER_MASK >>> rest) | value >>> rest));
        }
    }

    /** Raises a register to a value; false if it is already as high. */
    static boolean raise(long hll, int index, int value) {
        if (get(hll, index) >= value) {
            return false;
        }
        put(hll, index, value);
        return true;
    }

    /** Adds the registers to a histogram of values. */
    static void count(long hll, int[] histogram) {
        for (int i = 0; i < REGISTERS; i++) {
            histogram[get(hll, i)]++;
        }
    }

    /** Raises byte registers to these registers. */
    static void raiseAll(long hll, long bytes) {
        for (int i = 0; i < REGISTERS; i++) {
            RegisterBytes.raise(bytes, i, get(hll, i));
        }
    }
}
