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
 *
 * <p>Nothing proves that nobody can: xxh3 multiplies words of a key, and one that the seed makes zero takes the other out
 * of the hash. So there is a second hash of another family, PolymurHash, for which it is proven that any two keys collide
 * under few seeds. It tells apart what the first does not.
 *
 * <p>The library's method for all lengths of a key is so long that the JIT makes much more of it in some processes than in others (decision 30).
 * {@link ShortHash} is the same function for up to 128 bytes, which nearly all keys have.
 */
public final class KeyHash {
    private static final ByteAccess<MemorySegment> ACCESS = ByteAccess.forMemorySegment(MemorySegment.class);

    /** Tells the seeds of the second hash from that of the first, and from each other. */
    private static final long SECOND = 0x9E37_79B9_7F4A_7C15L;

    private final ShortHash ofShort;
    /** Of more bytes than {@link ShortHash} takes, and of seeds. */
    private final Hasher64 ofLong;
    private final Hasher64 second;

    public KeyHash(long seed) {
        ofShort = new ShortHash(seed);
        ofLong = Hashing.xxh3_64(seed);
        long mixed = ofLong.hashLongToLong(SECOND);
        second = Hashing.polymurHash2_0(ofLong.hashLongToLong(mixed), mixed, ofLong.hashLongToLong(~mixed));
    }

    /** The hash of {@code length} bytes of native memory; equal to that of the same bytes in an array. */
    public long hash(long address, int length) {
        return length <= ShortHash.MOST_BYTES
                ? ofShort.hash(address, length)
                : ofLong.hashBytesToLong(Memory.all(), address, length, ACCESS);
    }

    /** The second hash of the same bytes, independent of the first. */
    public int second(long address, int length) {
        return (int) second.hashBytesToLong(Memory.all(), address, length, ACCESS);
    }

    /** A hash of another seed, drawn from this one's: who is told of its hashes learns nothing of those of keys. */
    public KeyHash another() {
        return new KeyHash(ofLong.hashLongToLong(~SECOND));
    }
}
