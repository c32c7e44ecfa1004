package io.varve.flash.bloom;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * A Bloom filter over hashes: it may report a hash that was never added, and always reports one that was. Many threads
 * add and query; {@link #clear} and {@link #remove} race with them bit by bit, one word at a time.
 *
 * <p>The bits are off-heap. A hash must have 64 well-mixed bits: all positions are derived from it.
 */
public final class BloomFilter {
    /** Maximum number of functions: subsets are the bits of an int, and more than eight do not lower the error rate. */
    public static final int MAX_HASHES = 8;
    /** 2^64 over the golden ratio, odd: its multiples are spread evenly. */
    private static final long STEP = 0x9E37_79B9_7F4A_7C15L;
    private static final long MIX = 0xBF58_476D_1CE4_E5B9L;
    private static final int MIX_SHIFT = 32;
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment words;
    private final long bits;
    private final int hashes;

    /**
     * @param arena owner of its memory
     * @param bits 1 or more; rounded up to a multiple of 64
     * @param hashes functions, 1 to {@link #MAX_HASHES}
     * @throws IllegalArgumentException if a number is out of its range
     */
    public BloomFilter(Arena arena, long bits, int hashes) {
        if (bits < 1) {
            throw new IllegalArgumentException("A Bloom filter has at least one bit, not " + bits);
        }
        if (hashes < 1 || hashes > MAX_HASHES) {
            throw new IllegalArgumentException(
                    "A Bloom filter has 1 to " + MAX_HASHES + " hash functions, not " + hashes);
        }
        this.bits = Math.ceilDiv(bits, Long.SIZE) * Long.SIZE;
        this.hashes = hashes;
        words = arena.allocate(this.bits / Byte.SIZE, Long.BYTES);
    }

    public void add(long hash) {
        for (int i = 0; i < hashes; i++) {
            long position = position(hash, i);
            long word = wordOf(position);
            long bit = bitOf(position);
            // Most bits of a frequently requested key are set already, and a check does not disturb other cores.
            if (((long) WORD.getOpaque(words, word) & bit) == 0) {
                WORD.getAndBitwiseOr(words, word, bit);
            }
        }
    }

    public boolean mightContain(long hash) {
        for (int i = 0; i < hashes; i++) {
            long position = position(hash, i);
            if (((long) WORD.getOpaque(words, wordOf(position)) & bitOf(position)) == 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Resets the bits of some of the functions: removes the hash, and others that share one of these bits (TBF, section
     * II: false negatives).
     *
     * @param functions as bits 0 to {@link #hashes} - 1; others are ignored
     */
    public void remove(long hash, int functions) {
        for (int i = 0; i < hashes; i++) {
            if ((functions >>> i & 1) != 0) {
                long position = position(hash, i);
                WORD.getAndBitwiseAnd(words, wordOf(position), ~bitOf(position));
            }
        }
    }

    public void clear() {
        words.fill((byte) 0);
    }

    /** Number of functions. */
    public int hashes() {
        return hashes;
    }

    /** Memory in bytes, beside some objects of fixed size. */
    public long ramBytes() {
        return bits / Byte.SIZE;
    }

    /** Counts the set bits: reads all of them. */
    public long countSetBits() {
        long set = 0;
        for (long word = 0; word < words.byteSize(); word += Long.BYTES) {
            set += Long.bitCount((long) WORD.getOpaque(words, word));
        }
        return set;
    }

    /**
     * Each function mixes another multiple of the step into the hash; the high half of a product is uniformly
     * distributed.
     */
    private long position(long hash, int function) {
        long mixed = (hash + function * STEP) * MIX;
        mixed = (mixed ^ mixed >>> MIX_SHIFT) * STEP;
        return Math.unsignedMultiplyHigh(mixed ^ mixed >>> MIX_SHIFT, bits);
    }

    /** The offset in bytes. */
    private static long wordOf(long position) {
        return position / Long.SIZE * Long.BYTES;
    }

    private static long bitOf(long position) {
        return 1L << position;
    }
}
