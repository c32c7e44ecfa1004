package io.varve.memory.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import org.jspecify.annotations.Nullable;

/**
 * Keys chosen with knowledge of the seed of the index hash, by the arithmetic of xxh3 with its default secret.
 * Immutable: static methods only.
 */
public final class ChosenKeys {
    private static final long SECRET_0 = 0xBE4B_A423_396C_FEB8L;
    private static final long SECRET_24_XOR_32 = 0x1F67_B3B7_A4A4_4072L ^ 0x78E5_C0CC_4EE6_79CBL;
    private static final long SECRET_40_XOR_48 = 0x2172_FFCC_7DD0_5A82L ^ 0x8E24_43F7_744608B8L;
    private static final long AVALANCHE = 0x1656_6791_9E37_79F9L;

    private ChosenKeys() {}

    /**
     * Keys of 32 bytes whose hashes are equal, all 64 bits: the first word takes a factor to zero, so that the second,
     * which is the number, has no influence.
     */
    public static byte[] ofEqualHash(long seed, long number) {
        return ByteBuffer.allocate(32).order(ByteOrder.LITTLE_ENDIAN).putLong(SECRET_0 + seed).putLong(number)
                .putLong(0x6576_7261_7600L).putLong(1).array();
    }

    /** The key of 16 bytes that has this hash; null if none of this form has it, as for half of all hashes. */
    public static byte @Nullable [] ofHash(long seed, long hash) {
        long h = hash;
        h ^= h >>> 32;
        h *= inverse(AVALANCHE);
        h ^= h >>> 37;
        // With 1 for the one word, the sum is 16 + reverse(1) + other + fold(1 * other): twice the other.
        long twice = h - 16 - Long.reverseBytes(1);
        if ((twice & 1) != 0) {
            return null;
        }
        return ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN).putLong(1 ^ SECRET_24_XOR_32 + seed)
                .putLong(twice >>> 1 ^ SECRET_40_XOR_48 - seed).array();
    }

    private static long inverse(long odd) {
        long inverse = odd;
        for (int i = 0; i < 6; i++) {
            inverse *= 2 - odd * inverse;
        }
        return inverse;
    }
}
