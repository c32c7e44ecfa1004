package io.varve.memory.offheap;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Reads, writes, copies and compares native memory by absolute address. Immutable: static methods only.
 *
 * <p>Every multi-byte access is little-endian and may be unaligned. All accesses go through one {@link MemorySegment}
 * that spans the whole address space. It is a {@code static final} constant, so C2 reduces its bounds and liveness
 * checks to almost nothing, and an access costs as much as in C.
 *
 * <p>SAFETY: addresses are trusted. The code that computes an address must prove that it lies in a live region. The
 * checked mode ({@code -Dvarve.memory.checked=true}, on in every test of this module) verifies each access against
 * {@link LiveRanges} and throws instead of corrupting memory.
 */
public final class Memory {
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED
            .withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    /** The longest copy that is done by reads and writes of words. */
    private static final int MAX_IN_PLACE = 64;

    /**
     * Whether each access is verified against the live ranges; a constant, so that the check costs nothing when off.
     */
    static final boolean CHECKED = Boolean.getBoolean("varve.memory.checked");

    private Memory() {}

    /** The whole address space as one region, for APIs that take a region and an offset (the Vector API, hashing). */
    public static MemorySegment all() {
        return ALL;
    }

    public static byte getByte(long address) {
        check(address, 1);
        return ALL.get(BYTE, address);
    }

    public static void putByte(long address, byte value) {
        check(address, 1);
        ALL.set(BYTE, address, value);
    }

    public static short getShort(long address) {
        check(address, 2);
        return ALL.get(SHORT, address);
    }

    public static void putShort(long address, short value) {
        check(address, 2);
        ALL.set(SHORT, address, value);
    }

    public static int getInt(long address) {
        check(address, 4);
        return ALL.get(INT, address);
    }

    public static void putInt(long address, int value) {
        check(address, 4);
        ALL.set(INT, address, value);
    }

    public static long getLong(long address) {
        check(address, 8);
        return ALL.get(LONG, address);
    }

    /**
     * Reads ahead of use and without a lock. It is never verified against the live ranges, because the range may be
     * freed meanwhile. SAFETY: the address must come from {@link Regions}, which keeps it mapped; the result may be
     * stale or zero.
     */
    public static long peekLong(long address) {
        return ALL.get(LONG, address);
    }

    /** As {@link #peekLong}, for a range; both addresses must be of mapped memory, and the target the caller's own. */
    public static void peekCopy(long from, long to, int length) {
        if (length <= MAX_IN_PLACE) {
            copyInPlace(from, to, length);
        } else {
            MemorySegment.copy(ALL, from, ALL, to, length);
        }
    }

    public static void putLong(long address, long value) {
        check(address, 8);
        ALL.set(LONG, address, value);
    }

    /** Reads 48 bits as an unsigned number: the width of a location and of an expiry time. */
    public static long getUnsigned48(long address) {
        check(address, 6);
        return (ALL.get(INT, address) & 0xFFFF_FFFFL) | (ALL.get(SHORT, address + 4) & 0xFFFFL) << 32;
    }

    /** Writes the low 48 bits of {@code value}. */
    public static void putUnsigned48(long address, long value) {
        check(address, 6);
        ALL.set(INT, address, (int) value);
        ALL.set(SHORT, address + 4, (short) (value >>> 32));
    }

    /** Copies {@code length} bytes; the ranges may overlap. */
    public static void copy(long from, long to, long length) {
        check(from, length);
        check(to, length);
        if (length <= MAX_IN_PLACE) {
            copyInPlace(from, to, (int) length);
        } else {
            MemorySegment.copy(ALL, from, ALL, to, length);
        }
    }

    /**
     * Copies keys and small values, faster than the general call. It reads everything before it writes anything, so the
     * ranges may overlap. For a length that is no power of two, the two halves overlap.
     */
    private static void copyInPlace(long from, long to, int length) {
        if (length >= 16) {
            if (length > 32) {
                copyUpTo64(from, to, length);
            } else {
                long last = length - 16L;
                long a = ALL.get(LONG, from);
                long b = ALL.get(LONG, from + 8);
                long c = ALL.get(LONG, from + last);
                long d = ALL.get(LONG, from + last + 8);
                ALL.set(LONG, to, a);
                ALL.set(LONG, to + 8, b);
                ALL.set(LONG, to + last, c);
                ALL.set(LONG, to + last + 8, d);
            }
        } else if (length >= 8) {
            long a = ALL.get(LONG, from);
            long b = ALL.get(LONG, from + length - 8);
            ALL.set(LONG, to, a);
            ALL.set(LONG, to + length - 8, b);
        } else if (length >= 4) {
            int a = ALL.get(INT, from);
            int b = ALL.get(INT, from + length - 4);
            ALL.set(INT, to, a);
            ALL.set(INT, to + length - 4, b);
        } else if (length > 0) {
            byte a = ALL.get(BYTE, from);
            byte b = ALL.get(BYTE, from + (length >> 1));
            byte c = ALL.get(BYTE, from + length - 1);
            ALL.set(BYTE, to, a);
            ALL.set(BYTE, to + (length >> 1), b);
            ALL.set(BYTE, to + length - 1, c);
        }
    }

    private static void copyUpTo64(long from, long to, int length) {
        long last = length - 32L;
        long a = ALL.get(LONG, from);
        long b = ALL.get(LONG, from + 8);
        long c = ALL.get(LONG, from + 16);
        long d = ALL.get(LONG, from + 24);
        long e = ALL.get(LONG, from + last);
        long f = ALL.get(LONG, from + last + 8);
        long g = ALL.get(LONG, from + last + 16);
        long h = ALL.get(LONG, from + last + 24);
        ALL.set(LONG, to, a);
        ALL.set(LONG, to + 8, b);
        ALL.set(LONG, to + 16, c);
        ALL.set(LONG, to + 24, d);
        ALL.set(LONG, to + last, e);
        ALL.set(LONG, to + last + 8, f);
        ALL.set(LONG, to + last + 16, g);
        ALL.set(LONG, to + last + 24, h);
    }

    /** Copies from an array into native memory. */
    public static void copy(byte[] from, int offset, long to, int length) {
        check(to, length);
        MemorySegment.copy(from, offset, ALL, BYTE, to, length);
    }

    /** Copies from native memory into an array. */
    public static void copy(long from, byte[] to, int offset, int length) {
        check(from, length);
        MemorySegment.copy(ALL, BYTE, from, to, offset, length);
    }

    /** A new array with the {@code length} bytes at {@code address}. Allocates: not for the request path. */
    public static byte[] toArray(long address, int length) {
        byte[] bytes = new byte[length];
        copy(address, bytes, 0, length);
        return bytes;
    }

    public static void fill(long address, long length, byte value) {
        check(address, length);
        ALL.asSlice(address, length).fill(value);
    }

    /** Whether the two ranges hold the same bytes. Short ranges (keys) are compared eight bytes at a time in place. */
    public static boolean equal(long a, long b, int length) {
        check(a, length);
        check(b, length);
        if (length >= 8) {
            // Keys differ most often at their end: user1000385178204227360, element:000000012345.
            int last = length - 8;
            if (ALL.get(LONG, a + last) != ALL.get(LONG, b + last)) {
                return false;
            }
            for (int i = 0; i < last; i += 8) {
                if (ALL.get(LONG, a + i) != ALL.get(LONG, b + i)) {
                    return false;
                }
            }
            return true;
        }
        if (length >= 4) {
            int last = length - 4;
            return ALL.get(INT, a) == ALL.get(INT, b) && ALL.get(INT, a + last) == ALL.get(INT, b + last);
        }
        for (int i = 0; i < length; i++) {
            if (ALL.get(BYTE, a + i) != ALL.get(BYTE, b + i)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Compares as unsigned bytes, with the shorter first among equals; the result's sign is that of {@link Comparable}.
     */
    public static int compare(long a, int aLength, long b, int bLength) {
        check(a, aLength);
        check(b, bLength);
        int shared = Math.min(aLength, bLength);
        if (shared <= MAX_IN_PLACE) {
            return compareInPlace(a, aLength, b, bLength);
        }
        long mismatch = MemorySegment.mismatch(ALL, a, a + shared, ALL, b, b + shared);
        if (mismatch < 0) {
            return Integer.compare(aLength, bLength);
        }
        return Byte.compareUnsigned(ALL.get(BYTE, a + mismatch), ALL.get(BYTE, b + mismatch));
    }

    /** Compares keys and small members, faster than the general call. */
    private static int compareInPlace(long a, int aLength, long b, int bLength) {
        int shared = Math.min(aLength, bLength);
        int at = 0;
        for (; at + Long.BYTES <= shared; at += Long.BYTES) {
            long left = ALL.get(LONG, a + at);
            long right = ALL.get(LONG, b + at);
            if (left != right) {
                return Long.compareUnsigned(Long.reverseBytes(left), Long.reverseBytes(right));
            }
        }
        for (; at < shared; at++) {
            int compared = Byte.compareUnsigned(ALL.get(BYTE, a + at), ALL.get(BYTE, b + at));
            if (compared != 0) {
                return compared;
            }
        }
        return Integer.compare(aLength, bLength);
    }

    private static void check(long address, long length) {
        if (CHECKED) {
            LiveRanges.check(address, length);
        }
    }
}
