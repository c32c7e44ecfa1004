package io.varve.memory.index;

import io.varve.memory.offheap.Memory;

/**
 * Seeded 64-bit xxh3 for up to 128 bytes of native memory. Immutable; allocates nothing.
 *
 * <p>It follows the specification ("XXH3 Algorithm Overview", "Small inputs" and "Medium inputs"). Each class of
 * lengths has its own formula, which mixes words of the input with words of a fixed secret and the seed. The
 * constructor computes the parts that do not depend on the input. Each class has its own method, so that the code for
 * one key length is small enough to be inlined. Beyond 128 bytes the algorithm loops, and the cost of a call is small
 * beside the loop.
 */
final class ShortHash {
    static final int MAX_BYTES = 128;

    private static final long PRIME64_1 = 0x9E37_79B1_85EB_CA87L;
    private static final long PRIME64_2 = 0xC2B2_AE3D_27D4_EB4FL;
    private static final long PRIME64_3 = 0x1656_67B1_9E37_79F9L;
    private static final long PRIME_MX1 = 0x1656_6791_9E37_79F9L;
    private static final long PRIME_MX2 = 0x9FB2_1C65_1E98_DF25L;

    /** The first 128 bytes of the algorithm's default secret, as little-endian words. */
    private static final long[] SECRET = {
            0xBE4B_A423_396C_FEB8L, 0x1CAD_21F7_2C81_017CL, 0xDB97_9083_E96D_D4DEL, 0x1F67_B3B7_A4A4_4072L,
            0x78E5_C0CC_4EE6_79CBL, 0x2172_FFCC_7DD0_5A82L, 0x8E24_43F7_7446_08B8L, 0x4C26_3A81_E690_35E0L,
            0xCB00_C391_BB52_283CL, 0xA32E_531B_8B65_D088L, 0x4EF9_0DA2_9748_6471L, 0xD8AC_DEA9_46EF_1938L,
            0x3F34_9CE3_3F76_FAA8L, 0x1D4F_0BC7_C7BB_DCF9L, 0x3159_B4CD_4BE0_518AL, 0x6473_78D9_C97E_9FC8L};

    private final long ofEmptyKey;
    private final long flip3;
    private final long flip8;
    private final long flip16Low;
    private final long flip16High;
    /** The secret, with the seed added to words of even index and subtracted from the others. */
    private final long[] seeded = new long[SECRET.length];

    ShortHash(long seed) {
        ofEmptyKey = avalancheXxh64(seed ^ SECRET[7] ^ SECRET[8]);
        flip3 = ((SECRET[0] ^ SECRET[0] >>> 32) & 0xFFFF_FFFFL) + seed;
        flip8 = (SECRET[1] ^ SECRET[2]) - (seed ^ (long) Integer.reverseBytes((int) seed) << 32);
        flip16Low = (SECRET[3] ^ SECRET[4]) + seed;
        flip16High = (SECRET[5] ^ SECRET[6]) - seed;
        for (int i = 0; i < SECRET.length; i++) {
            seeded[i] = (i & 1) == 0 ? SECRET[i] + seed : SECRET[i] - seed;
        }
    }

    /** @param length 0 to {@link #MAX_BYTES} */
    long hash(long address, int length) {
        assert length >= 0 && length <= MAX_BYTES : length;
        if (length > 16) {
            return upTo128(address, length);
        }
        if (length > 8) {
            return upTo16(address, length);
        }
        return length >= 4 ? upTo8(address, length) : upTo3(address, length);
    }

    private long upTo3(long address, int length) {
        if (length == 0) {
            return ofEmptyKey;
        }
        long combined = Byte.toUnsignedLong(Memory.getByte(address)) << 16
                | Byte.toUnsignedLong(Memory.getByte(address + (length >> 1))) << 24
                | Byte.toUnsignedLong(Memory.getByte(address + length - 1)) | (long) length << 8;
        return avalancheXxh64(combined ^ flip3);
    }

    private long upTo8(long address, int length) {
        long first = Memory.getInt(address);
        long last = Integer.toUnsignedLong(Memory.getInt(address + length - Integer.BYTES));
        long mixed = last + (first << 32) ^ flip8;
        mixed ^= Long.rotateLeft(mixed, 49) ^ Long.rotateLeft(mixed, 24);
        mixed *= PRIME_MX2;
        mixed ^= (mixed >>> 35) + length;
        mixed *= PRIME_MX2;
        return mixed ^ mixed >>> 28;
    }

    private long upTo16(long address, int length) {
        long low = Memory.getLong(address) ^ flip16Low;
        long high = Memory.getLong(address + length - Long.BYTES) ^ flip16High;
        return avalanche(length + Long.reverseBytes(low) + high + folded(low, high));
    }

    private long upTo128(long address, int length) {
        long sum = length * PRIME64_1 + ends(address, length, 0);
        if (length > 32) {
            sum += ends(address, length, 1);
            if (length > 64) {
                sum += ends(address, length, 2);
                if (length > 96) {
                    sum += ends(address, length, 3);
                }
            }
        }
        return avalanche(sum);
    }

    /** Mixes the 16 bytes at {@code 16 * number} from the start with the 16 bytes at that distance from the end. */
    private long ends(long address, int length, int number) {
        long far = 16L * number;
        return mixed(address + far, 4 * number) + mixed(address + length - 16 - far, 4 * number + 2);
    }

    private long mixed(long address, int word) {
        return folded(Memory.getLong(address) ^ seeded[word],
                Memory.getLong(address + Long.BYTES) ^ seeded[word + 1]);
    }

    /** The two halves of the 128-bit product, combined by xor. */
    private static long folded(long a, long b) {
        return a * b ^ Math.unsignedMultiplyHigh(a, b);
    }

    private static long avalanche(long hash) {
        long mixed = (hash ^ hash >>> 37) * PRIME_MX1;
        return mixed ^ mixed >>> 32;
    }

    private static long avalancheXxh64(long hash) {
        long mixed = (hash ^ hash >>> 33) * PRIME64_2;
        mixed = (mixed ^ mixed >>> 29) * PRIME64_3;
        return mixed ^ mixed >>> 32;
    }
}
