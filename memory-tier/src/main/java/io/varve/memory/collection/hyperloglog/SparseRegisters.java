package io.varve.memory.collection.hyperloglog;

import io.varve.memory.offheap.Memory;

import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.MAX_VALUE_LENGTH;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTERS;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTERS_OFFSET;

/**
 * The registers of a sparse HyperLogLog: a sequence of opcodes. Immutable: static methods only.
 *
 * <p>The bytes equal those that Redis would write, so opcodes are split and merged by its rules. A register that
 * changes within an opcode splits it in up to three. Then five steps follow, starting at the opcode before it; each
 * merges two neighbours of the same value or moves on.
 */
final class SparseRegisters {
    static final int CORRUPT = -1;
    static final int UNCHANGED = -2;
    /** The register needs the dense encoding: there is no space, or its value is too large. */
    static final int TOO_LONG = -3;
    /** The most additional bytes of a change. */
    static final int MAX_EXTRA_BYTES = 3;

    private static final int JOINING_STEPS = 5;

    private SparseRegisters() {}

    /**
     * Raises a register to a value.
     *
     * @param length the length of the whole HyperLogLog, whose memory has {@link #MAX_EXTRA_BYTES} more
     * @param maxBytes the longest permitted length
     * @return the new length, or one of the negative constants
     */
    static int raise(long hll, int length, int index, int value, long maxBytes) {
        long end = hll + length;
        long at = hll + REGISTERS_OFFSET;
        long before = at;
        int first = 0;
        int span = 0;
        while (at < end) {
            span = HyperLogLogLayout.length(at, end);
            if (index < first + span) {
                break;
            }
            before = at;
            at += HyperLogLogLayout.bytes(Memory.getByte(at));
            first += span;
        }
        if (span == 0 || at >= end) {
            return CORRUPT;
        }
        int opcode = Memory.getByte(at);
        boolean isValue = HyperLogLogLayout.isValue(opcode);
        if (isValue && HyperLogLogLayout.value(opcode) >= value) {
            return UNCHANGED;
        }
        if (span == 1 && !HyperLogLogLayout.isXzero(opcode)) {
            HyperLogLogLayout.putValue(at, value, 1);
            return join(hll, before, end);
        }
        int oldBytes = HyperLogLogLayout.bytes(opcode);
        int more = splitBytes(opcode, span, index - first) - oldBytes;
        if (more > 0 && length + (long) more > maxBytes) {
            return TOO_LONG;
        }
        long behind = at + oldBytes;
        if (behind < end) {
            Memory.copy(behind, behind + more, end - behind);
        }
        split(at, opcode, span, index - first, value);
        return join(hll, before, end + more);
    }

    /** Bytes of the opcodes that result from splitting one at a register. */
    private static int splitBytes(int opcode, int span, int place) {
        return partBytes(opcode, place) + 1 + partBytes(opcode, span - place - 1);
    }

    private static int partBytes(int opcode, int length) {
        return length == 0
                ? 0
                : !HyperLogLogLayout.isValue(opcode) && length > HyperLogLogLayout.MAX_ZERO_LENGTH ? 2 : 1;
    }

    private static void split(long at, int opcode, int span, int place, int value) {
        long next = putPart(at, opcode, place);
        next = HyperLogLogLayout.putValue(next, value, 1);
        putPart(next, opcode, span - place - 1);
    }

    private static long putPart(long at, int opcode, int length) {
        if (length == 0) {
            return at;
        }
        return HyperLogLogLayout.isValue(opcode)
                ? HyperLogLogLayout.putValue(at, HyperLogLogLayout.value(opcode), length)
                : HyperLogLogLayout.putZeros(at, length);
    }

    private static int join(long hll, long from, long oldEnd) {
        long end = oldEnd;
        long at = from;
        for (int step = 0; step < JOINING_STEPS && at < end; step++) {
            int opcode = Memory.getByte(at);
            int joined = at + 1 < end ? joinedLength(opcode, Memory.getByte(at + 1)) : 0;
            if (joined == 0) {
                at += HyperLogLogLayout.bytes(opcode);
            } else {
                HyperLogLogLayout.putValue(at, HyperLogLogLayout.value(opcode), joined);
                Memory.copy(at + 2, at + 1, end - at - 2);
                end--;
            }
        }
        HyperLogLogLayout.outdate(hll);
        return (int) (end - hll);
    }

    /** The length of two VAL opcodes merged; 0 if they cannot be merged. */
    private static int joinedLength(int opcode, int next) {
        if (!HyperLogLogLayout.isValue(opcode) || !HyperLogLogLayout.isValue(next)
                || HyperLogLogLayout.value(opcode) != HyperLogLogLayout.value(next)) {
            return 0;
        }
        int length = (opcode & 0x3) + 1 + (next & 0x3) + 1;
        return length <= MAX_VALUE_LENGTH ? length : 0;
    }

    // --- walks

    /** Adds the registers to a histogram of values; false if the opcodes have the wrong number of registers. */
    static boolean count(long hll, int length, int[] histogram) {
        long end = hll + length;
        long registers = 0;
        for (long at = hll + REGISTERS_OFFSET; at < end; at += HyperLogLogLayout.bytes(Memory.getByte(at))) {
            int opcode = Memory.getByte(at);
            int span = HyperLogLogLayout.length(at, end);
            registers += span;
            histogram[HyperLogLogLayout.isValue(opcode) ? HyperLogLogLayout.value(opcode) : 0] += span;
        }
        return registers == REGISTERS;
    }

    /** A callback for a run of registers with one value. Called by {@link #forEach}. */
    interface Run {
        void take(int index, int length, int value);
    }

    /** Passes on all runs of registers that are not 0; false if the opcodes have the wrong number of registers. */
    static boolean forEach(long hll, int length, Run run) {
        long end = hll + length;
        long index = 0;
        for (long at = hll + REGISTERS_OFFSET; at < end; at += HyperLogLogLayout.bytes(Memory.getByte(at))) {
            int opcode = Memory.getByte(at);
            int span = HyperLogLogLayout.length(at, end);
            if (HyperLogLogLayout.isValue(opcode)) {
                if (index + span > REGISTERS) {
                    return false;
                }
                run.take((int) index, span, HyperLogLogLayout.value(opcode));
            }
            index += span;
        }
        return index == REGISTERS;
    }

    /** The opcodes as text, in the format of PFDEBUG DECODE. */
    static String describe(long hll, int length) {
        long end = hll + length;
        StringBuilder text = new StringBuilder();
        for (long at = hll + REGISTERS_OFFSET; at < end; at += HyperLogLogLayout.bytes(Memory.getByte(at))) {
            int opcode = Memory.getByte(at);
            text.append(text.isEmpty() ? "" : " ");
            int span = HyperLogLogLayout.length(at, end);
            if (HyperLogLogLayout.isValue(opcode)) {
                text.append("v:").append(HyperLogLogLayout.value(opcode)).append(',').append(span);
            } else {
                text.append(HyperLogLogLayout.isXzero(opcode) ? "Z:" : "z:").append(span);
            }
        }
        return text.toString();
    }
}
