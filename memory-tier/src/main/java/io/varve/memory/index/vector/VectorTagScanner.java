package io.varve.memory.index.vector;

import java.nio.ByteOrder;

import io.varve.memory.index.TagScanner;
import io.varve.memory.offheap.Memory;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;

/**
 * Compares the 16-byte head of an index bucket with a tag in one 128-bit operation. Immutable.
 *
 * <p>Lane 0 holds num and flag; a shift removes its result. Redis++, section 4.
 */
public final class VectorTagScanner implements TagScanner {
    private static final int SLOTS_MASK = 0x7F;

    VectorTagScanner() {}

    @Override
    public int matches(long bucketAddress, short tag) {
        long equal = ShortVector
                .fromMemorySegment(ShortVector.SPECIES_128, Memory.all(), bucketAddress, ByteOrder.LITTLE_ENDIAN)
                .compare(VectorOperators.EQ, tag).toLong();
        return (int) (equal >>> 1) & Memory.getByte(bucketAddress) & SLOTS_MASK;
    }
}
