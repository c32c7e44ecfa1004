package io.varve.memory.index;

import java.lang.foreign.MemorySegment;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.varve.memory.offheap.Memory;

/**
 * The seeded 64-bit hash of a key that the index lives on: xxh3. Immutable; allocates nothing.
 *
 * <p>The seed is drawn at start and never leaves the process, so that nobody can choose keys of one home bucket.
 */
public final class KeyHash {
    private static final ByteAccess<MemorySegment> ACCESS = ByteAccess.forMemorySegment(MemorySegment.class);

    private final Hasher64 hasher;

    public KeyHash(long seed) {
        hasher = Hashing.xxh3_64(seed);
    }

    /** The hash of {@code length} bytes of native memory; equal to that of the same bytes in an array. */
    public long hash(long address, int length) {
        return hasher.hashBytesToLong(Memory.all(), address, length, ACCESS);
    }
}
