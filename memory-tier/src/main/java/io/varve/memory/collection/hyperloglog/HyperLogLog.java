package io.varve.memory.collection.hyperloglog;

import io.varve.memory.offheap.Memory;

import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.DENSE;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.MAGIC;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.MAX_SPARSE_VALUE;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.REGISTERS_OFFSET;
import static io.varve.memory.collection.hyperloglog.HyperLogLogLayout.SPARSE;

/**
 * A HyperLogLog in native memory, byte for byte as in Redis. Immutable: static methods only; the caller holds the lock
 * of the item's shard, or has a copy.
 *
 * <p>It is named by its address and its length in bytes. A sparse one grows during a change and may become dense, so
 * the caller changes it in a copy with {@link #workBytes}. A dense one is changed in place.
 */
public final class HyperLogLog {
    /** The result of {@link #add} and {@link #raise} for invalid opcodes. */
    public static final int CORRUPT = SparseRegisters.CORRUPT;
    /** Their result if nothing has changed. */
    public static final int UNCHANGED = SparseRegisters.UNCHANGED;
    /** The number of registers. */
    public static final int REGISTERS = HyperLogLogLayout.REGISTERS;
    /** Bytes of a dense one. */
    public static final int DENSE_BYTES = HyperLogLogLayout.DENSE_BYTES;
    /** Bytes of an empty one. */
    public static final int EMPTY_BYTES = REGISTERS_OFFSET + 2;

    private HyperLogLog() {}

    // --- reading

    /** Whether the bytes have the header of a HyperLogLog, and a dense one has the right length. */
    public static boolean isOne(long address, int length) {
        if (length < REGISTERS_OFFSET || Memory.getInt(address) != MAGIC) {
            return false;
        }
        int encoding = HyperLogLogLayout.encoding(address);
        return encoding == SPARSE || encoding == DENSE && length == DENSE_BYTES;
    }

    public static boolean isDense(long hll) {
        return HyperLogLogLayout.encoding(hll) == DENSE;
    }

    /** The stored estimate; -1 if it is out of date. */
    public static long keptEstimate(long hll) {
        long kept = HyperLogLogLayout.estimate(hll);
        return kept < 0 ? -1 : kept;
    }

    public static void keepEstimate(long hll, long estimate) {
        HyperLogLogLayout.estimate(hll, estimate);
    }

    /** Marks the stored estimate as out of date. */
    public static void outdate(long hll) {
        HyperLogLogLayout.outdate(hll);
    }

    /** The estimated number of different elements; -1 if the opcodes are invalid. */
    public static long estimate(long hll, int length) {
        int[] histogram = new int[CardinalityEstimate.VALUES];
        if (isDense(hll)) {
            DenseRegisters.count(hll, histogram);
        } else if (!SparseRegisters.count(hll, length, histogram)) {
            return CORRUPT;
        }
        return CardinalityEstimate.of(histogram);
    }

    /** A register of a dense one. */
    public static int register(long hll, int index) {
        return DenseRegisters.get(hll, index);
    }

    /** The opcodes of a sparse one as text. */
    public static String describe(long hll, int length) {
        return SparseRegisters.describe(hll, length);
    }

    // --- changes

    /** Writes an empty one of {@link #EMPTY_BYTES}. */
    public static void create(long hll) {
        HyperLogLogLayout.begin(hll, SPARSE);
        HyperLogLogLayout.putZeros(hll + REGISTERS_OFFSET, REGISTERS);
    }

    /** Bytes of a copy in which at most this number of registers can be changed. */
    public static long workBytes(int length, int changes) {
        return DENSE_BYTES + (long) length + SparseRegisters.MAX_EXTRA_BYTES * Math.min((long) changes, REGISTERS);
    }

    /**
     * Adds an element.
     *
     * @param maxSparseBytes a sparse one that would become longer becomes dense
     * @return the new length, {@link #UNCHANGED} or {@link #CORRUPT}
     */
    public static int add(long hll, int length, long element, int elementLength, long maxSparseBytes) {
        long hash = ElementHash.of(element, elementLength);
        int index = (int) hash & REGISTERS - 1;
        // The rank of the first set bit, or one past the last bit if none is set.
        long rest = hash >>> HyperLogLogLayout.INDEX_BITS | 1L << Long.SIZE - HyperLogLogLayout.INDEX_BITS;
        return raise(hll, length, index, Long.numberOfTrailingZeros(rest) + 1, maxSparseBytes);
    }

    /** Raises a register to a value; see {@link #add}. */
    public static int raise(long hll, int length, int index, int value, long maxSparseBytes) {
        if (!isDense(hll)) {
            int changed = value > MAX_SPARSE_VALUE
                    ? SparseRegisters.TOO_LONG
                    : SparseRegisters.raise(hll, length, index, value, maxSparseBytes);
            if (changed != SparseRegisters.TOO_LONG) {
                return changed;
            }
            if (makeDense(hll, length) == CORRUPT) {
                return CORRUPT;
            }
        }
        return DenseRegisters.raise(hll, index, value) ? DENSE_BYTES : UNCHANGED;
    }

    /**
     * Converts a sparse one to dense, in memory of {@link #workBytes}.
     *
     * @return the new length, or {@link #CORRUPT}, with nothing changed
     */
    public static int makeDense(long hll, int length) {
        // The opcodes are read from a copy behind the space for the registers.
        long opcodes = hll + DENSE_BYTES;
        Memory.copy(hll, opcodes, length);
        Memory.fill(hll + REGISTERS_OFFSET, DENSE_BYTES - (long) REGISTERS_OFFSET, (byte) 0);
        boolean whole = SparseRegisters.forEach(opcodes, length, (index, count, value) -> {
            for (int i = index; i < index + count; i++) {
                DenseRegisters.put(hll, i, value);
            }
        });
        if (!whole) {
            Memory.copy(opcodes, hll, length);
            return CORRUPT;
        }
        HyperLogLogLayout.encoding(hll, DENSE);
        return DENSE_BYTES;
    }

    // --- merging

    /** Prepares {@link #REGISTERS} bytes for merging: a byte for each register. */
    public static void clearJoined(long bytes) {
        RegisterBytes.clear(bytes);
    }

    /** Merges this one's registers; false if its opcodes are invalid. */
    public static boolean join(long hll, int length, long bytes) {
        if (isDense(hll)) {
            DenseRegisters.raiseAll(hll, bytes);
            return true;
        }
        return SparseRegisters.forEach(hll, length, (index, count, value) -> {
            for (int i = index; i < index + count; i++) {
                RegisterBytes.raise(bytes, i, value);
            }
        });
    }

    /** A merged register. */
    public static int joinedRegister(long bytes, int index) {
        return RegisterBytes.get(bytes, index);
    }

    /** The estimated number of different elements in all merged ones. */
    public static long joinedEstimate(long bytes) {
        int[] histogram = new int[CardinalityEstimate.VALUES];
        RegisterBytes.count(bytes, histogram);
        return CardinalityEstimate.of(histogram);
    }
}
