package io.varve.memory.locality.partition;

/**
 * The ranges of penalties that assign items to classes without a hint (pRedis, sections 3.2 and 6.3.1). Immutable.
 *
 * <p>Class {@code c} has the penalties from 10 (2^c - 1) µs to below 10 (2^(c + 1) - 1) µs: up to 10, to 30, to 70 and
 * so on, sixteen classes up to 655,350 µs. Longer penalties belong to the last class, and those below the paper's first
 * microsecond to the first. With fewer classes, the last one also covers the ranges of the missing ones.
 *
 * @param classes the number of classes, 1 to {@link #MAX_CLASSES}; they are numbered from 0
 */
public record PenaltyRanges(int classes) {
    /** As many as four bits of an item's header can represent. */
    public static final int MAX_CLASSES = 16;
    /** The end of the paper's last range, µs. */
    public static final long SCALE_MICROS = 655_350;

    private static final int UNIT_MICROS = 10;

    /** @throws IllegalArgumentException if the number is out of its range */
    public PenaltyRanges {
        if (classes < 1 || classes > MAX_CLASSES) {
            throw new IllegalArgumentException(
                    "The number of penalty classes must be 1 to " + MAX_CLASSES + ", not " + classes);
        }
    }

    /**
     * The class of a penalty.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public int classOf(long micros) {
        if (micros < 0) {
            throw new IllegalArgumentException("A penalty must be at least 0 µs, not " + micros);
        }
        int range = Long.SIZE - 1 - Long.numberOfLeadingZeros(micros / UNIT_MICROS + 1);
        return Math.min(range, classes - 1);
    }

    /**
     * Checks that a class exists.
     *
     * @return the class
     * @throws IllegalArgumentException if there is no such class
     */
    public int require(long penaltyClass) {
        if (penaltyClass < 0 || penaltyClass >= classes) {
            throw new IllegalArgumentException(
                    "A penalty class is 0 to " + (classes - 1) + ", not " + penaltyClass);
        }
        return (int) penaltyClass;
    }

    /** The shortest penalty of a class, µs. */
    public long lowestMicros(int penaltyClass) {
        return UNIT_MICROS * ((1L << require(penaltyClass)) - 1);
    }

    /** The first penalty above a class, µs; {@link Long#MAX_VALUE} for the last one. */
    public long endMicros(int penaltyClass) {
        return require(penaltyClass) == classes - 1 ? Long.MAX_VALUE : lowestMicros(penaltyClass + 1);
    }

    /**
     * A class's range as text: {@code below 10 µs}, {@code 70 to 150 µs}, {@code 1.27 to 2.55 ms},
     * {@code from 327.67 ms}.
     */
    public String text(int penaltyClass) {
        long lowest = lowestMicros(penaltyClass);
        long end = endMicros(penaltyClass);
        if (end == Long.MAX_VALUE) {
            return lowest == 0 ? "any" : "from " + number(lowest, lowest) + unit(lowest);
        }
        return lowest == 0
                ? "below " + number(end, end) + unit(end)
                : number(lowest, end) + " to " + number(end, end) + unit(end);
    }

    /** A time as text, in the unit that fits another one. */
    private static String number(long micros, long rounded) {
        if (rounded < 1000) {
            return Long.toString(micros);
        }
        int digits = 3;
        long fraction = micros % 1000;
        while (digits > 0 && fraction % 10 == 0) {
            fraction /= 10;
            digits--;
        }
        String whole = Long.toString(micros / 1000);
        return digits == 0 ? whole : whole + '.' + "0".repeat(digits - Long.toString(fraction).length()) + fraction;
    }

    private static String unit(long micros) {
        return micros < 1000 ? " µs" : " ms";
    }
}
