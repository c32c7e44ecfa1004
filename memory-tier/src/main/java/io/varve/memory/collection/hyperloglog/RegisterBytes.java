package io.varve.memory.collection.hyperloglog;

import io.varve.memory.offheap.Memory;

import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTERS;

/** Registers of one byte each, into which several HyperLogLogs are merged. Immutable: static methods only. */
final class RegisterBytes {
    private RegisterBytes() {}

    static void clear(long bytes) {
        Memory.fill(bytes, REGISTERS, (byte) 0);
    }

    static int get(long bytes, int index) {
        return Memory.getByte(bytes + index);
    }

    static void raise(long bytes, int index, int value) {
        if (Memory.getByte(bytes + index) < value) {
            Memory.putByte(bytes + index, (byte) value);
        }
    }

    static void count(long bytes, int[] histogram) {
        for (int i = 0; i < REGISTERS; i++) {
            histogram[Memory.getByte(bytes + i)]++;
        }
    }
}
