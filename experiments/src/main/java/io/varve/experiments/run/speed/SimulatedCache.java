package io.varve.experiments.run.speed;

import java.util.Arrays;

/**
 * A set-associative cache of a processor that replaces the line that was used least recently, as valgrind's cachegrind
 * simulates it. Confined to one thread.
 */
final class SimulatedCache {
    private final int ways;
    private final int lineShift;
    private final int setMask;
    /** The numbers of the lines of each set, the one that was used last in front; -1 is none. */
    private final long[] lines;

    /**
     * @param bytes its size, a power of two
     * @param ways lines of a set
     * @param lineBytes bytes of a line, a power of two
     */
    SimulatedCache(int bytes, int ways, int lineBytes) {
        int sets = bytes / lineBytes / ways;
        if (Integer.bitCount(sets) != 1 || Integer.bitCount(lineBytes) != 1 || sets * ways * lineBytes != bytes) {
            throw new IllegalArgumentException("a cache of " + bytes + " bytes, " + ways + " ways, lines of "
                    + lineBytes + " bytes: expected a number of sets that is a power of two");
        }
        this.ways = ways;
        lineShift = Integer.numberOfTrailingZeros(lineBytes);
        setMask = sets - 1;
        lines = new long[sets * ways];
        Arrays.fill(lines, -1);
    }

    /** A cache by its description: bytes, ways and bytes of a line, separated by commas. */
    static SimulatedCache of(String description) {
        int[] numbers = Arrays.stream(description.split(",", -1)).mapToInt(Integer::parseInt).toArray();
        return new SimulatedCache(numbers[0], numbers[1], numbers[2]);
    }

    /** Reads a range of memory. @return the number of its lines that were not in the cache */
    int read(long address, int bytes) {
        int misses = 0;
        for (long line = address >>> lineShift; line <= address + bytes - 1 >>> lineShift; line++) {
            misses += isHit(line) ? 0 : 1;
        }
        return misses;
    }

    private boolean isHit(long line) {
        int first = (int) (line & setMask) * ways;
        int at = first;
        while (at < first + ways - 1 && lines[at] != line) {
            at++;
        }
        boolean isHit = lines[at] == line;
        System.arraycopy(lines, first, lines, first + 1, at - first);
        lines[first] = line;
        return isHit;
    }
}
