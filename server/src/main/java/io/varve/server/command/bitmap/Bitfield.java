package io.varve.server.command.bitmap;

/** Overflow rules for integers of 1 to 64 bits. Immutable: static methods only. */
final class Bitfield {
    /** The handling of a number that does not fit its bits. */
    enum Overflow {
        /** Keeps the bits that fit. */
        WRAP,
        /** Takes the nearest number that fits. */
        SAT,
        /** Changes nothing. */
        FAIL
    }

    private Bitfield() {}

    /** Reads the lowest bits as a signed number. */
    static long signed(long value, int bits) {
        int unused = Long.SIZE - bits;
        return value << unused >> unused;
    }

    private static long greatest(boolean signed, int bits) {
        return -1L >>> Long.SIZE - bits >>> (signed ? 1 : 0);
    }

    /**
     * Whether the sum of a number and an increment overflows.
     *
     * @param value fits its bits, or is any number if the increment is 0; an unsigned one has at most 63 bits
     * @return 1 if it is too large, -1 if it is too small, 0 if it fits
     */
    static int excess(long value, long increment, boolean signed, int bits) {
        return signed ? signedExcess(value, increment, bits) : unsignedExcess(value, increment, bits);
    }

    private static int signedExcess(long value, long increment, int bits) {
        long greatest = greatest(true, bits);
        long min = -greatest - 1;
        // As in Redis, the difference may wrap, so SET treats a number that is far too small as too large.
        if (value > greatest || bits < Long.SIZE && increment > greatest - value
                || value >= 0 && increment > 0 && increment > greatest - value) {
            return 1;
        }
        if (value < min || bits < Long.SIZE && increment < min - value
                || value < 0 && increment < 0 && increment < min - value) {
            return -1;
        }
        return 0;
    }

    private static int unsignedExcess(long value, long increment, int bits) {
        long greatest = greatest(false, bits);
        if (Long.compareUnsigned(value, greatest) > 0 || increment > 0 && increment > greatest - value) {
            return 1;
        }
        return increment < 0 && increment < -value ? -1 : 0;
    }

    /** The number to store for a sum that does not fit. */
    static long fitted(long value, long increment, boolean signed, int bits, Overflow overflow, int excess) {
        if (overflow == Overflow.SAT) {
            long greatest = greatest(signed, bits);
            return excess > 0 ? greatest : signed ? -greatest - 1 : 0;
        }
        long sum = value + increment;
        return signed ? signed(sum, bits) : sum & greatest(false, bits);
    }
}
