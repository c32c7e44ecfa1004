package io.varve.memory.index;

import java.lang.foreign.MemorySegment;

import com.dynatrace.hash4j.hashing.ByteAccess;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import io.varve.memory.offheap.Memory;

/**
 * The index's seeded 64-bit hash of a key: xxh3. Immutable; allocates nothing.
 *
 * <p>The seed is random and is never sent to a client, so that no client can choose keys of one home bucket.
 *
 * <p>There is no proof for xxh3, however: it multiplies words of a key, and a word that the seed turns into zero
 * cancels the other one. There is therefore a second hash of another family, PolymurHash, with a proof that any two
 * keys collide under few seeds. It distinguishes keys whose first hashes are equal.
 *
 * <p>The library's method for all key lengths is so long that the JIT compiles it much better in some processes than in
 * others (decision 30). {@link ShortHash} is the same function for up to 128 bytes, which covers nearly all keys.
 */
public final class KeyHash {
    private static final ByteAccess<MemorySegment> ACCESS = ByteAccess.forMemorySegment(MemorySegment.class);

    /** Separates the seeds of the second hash from that of the first, and from each other. */
    private static final long SECOND = 0x9E37_79B9_7F4A_7C15L;

    private final ShortHash ofShort;
    /** For more bytes than {@link ShortHash} supports, and for seeds. */
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
        return length <= ShortHash.MAX_BYTES
                ? ofShort.hash(address, length)
                : ofLong.hashBytesToLong(Memory.all(), address, length, ACCESS);
    }

    /** The second hash of the bytes, independent of the first. */
    public int second(long address, int length) {
        return (int) second.hashBytesToLong(Memory.all(), address, length, ACCESS);
    }

    /**
     * A hash with another seed, drawn from this one's: published values of it reveal nothing about the hashes of keys.
     */
    public KeyHash another() {
        return new KeyHash(ofLong.hashLongToLong(~SECOND));
    }

    /** The home bucket of a hash in a table with this mask. */
    public static long home(long hash, long mask) {
        return IndexBucketLayout.home(hash, mask);
    }
}
