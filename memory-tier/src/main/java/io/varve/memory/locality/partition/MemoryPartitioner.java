package io.varve.memory.locality.partition;

import java.util.Arrays;
import java.util.List;

/**
 * Partitions memory among classes so that their misses together cost the least (pRedis, section 3.3). Immutable.
 *
 * <p>Memory is divided into units of a granularity. Let {@code f[i][j]} be the least cost of the misses of the first
 * {@code i} classes in {@code j} units:
 * <pre>
 *   f[i][j] = min over k of f[i-1][j-k] + cost of class i in k units             (equation 11)
 * </pre>
 * This finds the optimum even for curves with steps and plateaus, where a greedy choice stops at the first plateau. It
 * takes O(n (M/G)²) time. A row of {@code f} for each class, which gives the chosen {@code k} afterwards, makes memory
 * linear in M/G.
 *
 * <p>The program assigns no memory that lowers no cost. Curves say nothing about accesses that have not happened yet,
 * so that memory is then given to the classes in proportion to their shares. A class without reads in the window has no
 * demand and no share.
 *
 * <p>For fairness, each class with reads may have a floor, which is set aside before the partitioning. The paper does
 * not say how to reject unfair schemes.
 */
public final class MemoryPartitioner {
    /**
     * The most units: with 16 classes, a partitioning then takes some milliseconds. A finer granularity is coarsened
     * accordingly.
     */
    public static final int MAX_UNITS = 1024;
    /** 1 MiB, as the paper's. */
    public static final long DEFAULT_GRANULARITY_BYTES = 1 << 20;

    private final long granularityBytes;
    private final long floorBytes;

    /**
     * @param granularityBytes bytes of a unit, 1 or more
     * @param floorBytes bytes of each class with reads, 0 or more
     * @throws IllegalArgumentException if a number is out of its range
     */
    public MemoryPartitioner(long granularityBytes, long floorBytes) {
        if (granularityBytes < 1) {
            throw new IllegalArgumentException("The granularity must be at least 1 byte, not " + granularityBytes);
        }
        if (floorBytes < 0) {
            throw new IllegalArgumentException("A floor must be at least 0 bytes, not " + floorBytes);
        }
        this.granularityBytes = granularityBytes;
        this.floorBytes = floorBytes;
    }

    /**
     * Computes the optimal shares.
     *
     * @param demands the demands of the classes, one or more
     * @param memoryBytes the memory to partition completely, 1 or more
     * @throws IllegalArgumentException if there are no classes or there is no memory, or the floors exceed it
     */
    public Shares divide(List<Demand> demands, long memoryBytes) {
        if (demands.isEmpty() || memoryBytes < 1) {
            throw new IllegalArgumentException(
                    "Memory is divided among one class or more, and is 1 byte or more, not " + memoryBytes);
        }
        boolean[] asking = new boolean[demands.size()];
        int count = 0;
        for (int i = 0; i < asking.length; i++) {
            asking[i] = demands.get(i).reads() > 0;
            count += asking[i] ? 1 : 0;
        }
        if (count == 0) {
            // There were no reads: all classes get equal shares, and none exceeds a share of all.
            Arrays.fill(asking, true);
            return shares(demands, asking, new double[asking.length], memoryBytes);
        }
        if (floorBytes > memoryBytes / count) {
            throw new IllegalArgumentException("Floors of " + floorBytes + " bytes for " + count
                    + " classes are more than the " + memoryBytes + " bytes to be divided");
        }
        double rest = memoryBytes - (double) floorBytes * count;
        int units = Math.clamp((long) rest / granularityBytes, 1, MAX_UNITS);
        int[] chosen = choose(demands, asking, rest / units, units);
        double[] bytes = new double[asking.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = asking[i] ? floorBytes + chosen[i] * (rest / units) : 0;
        }
        return shares(demands, asking, bytes, memoryBytes);
    }

    /** The units of each class. */
    private int[] choose(List<Demand> demands, boolean[] asking, double unitBytes, int units) {
        int classes = asking.length;
        double[] cost = new double[units + 1];
        double[][] min = new double[classes + 1][];
        min[0] = new double[units + 1];
        for (int i = 0; i < classes; i++) {
            min[i + 1] = min[i];
            if (asking[i]) {
                min[i + 1] = new double[units + 1];
                add(min[i], cost, costs(demands.get(i), unitBytes, cost), min[i + 1]);
            }
        }
        int[] chosen = new int[classes];
        int left = units;
        for (int i = classes - 1; i >= 0; i--) {
            if (asking[i]) {
                costs(demands.get(i), unitBytes, cost);
                chosen[i] = chosen(min[i], cost, min[i + 1][left], left);
                left -= chosen[i];
            }
        }
        return chosen;
    }

    /**
     * The cost of a class's misses, by units.
     *
     * @return the units beyond which more make no difference
     */
    private int costs(Demand demand, double unitBytes, double[] cost) {
        for (int k = 0; k < cost.length; k++) {
            cost[k] = demand.cost(floorBytes + k * unitBytes);
        }
        int useful = cost.length - 1;
        while (useful > 0 && cost[useful - 1] <= cost[useful]) {
            useful--;
        }
        return useful;
    }

    /** Adds one class: equation 11. */
    private static void add(double[] min, double[] cost, int useful, double[] next) {
        for (int j = 0; j < next.length; j++) {
            double best = min[j] + cost[0];
            int max = Math.min(j, useful);
            for (int k = 1; k <= max; k++) {
                double sum = min[j - k] + cost[k];
                if (sum < best) {
                    best = sum;
                }
            }
            next[j] = best;
        }
    }

    /** The fewest units of a class that reach the minimum; the sums are computed exactly as in {@link #add}. */
    private static int chosen(double[] min, double[] cost, double reached, int units) {
        int k = 0;
        while (min[units - k] + cost[k] > reached) {
            k++;
        }
        return k;
    }

    /** Distributes the rest, and rounds to whole bytes that sum up to the memory. */
    private static Shares shares(List<Demand> demands, boolean[] asking, double[] bytes, long memoryBytes) {
        double given = 0;
        int count = 0;
        for (int i = 0; i < bytes.length; i++) {
            given += bytes[i];
            count += asking[i] ? 1 : 0;
        }
        int left = count;
        long[] shares = new long[bytes.length];
        double reached = 0;
        long allocated = 0;
        double cost = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (asking[i]) {
                reached += given > 0 ? bytes[i] / given : 1.0 / count;
                long upTo = --left == 0
                        ? memoryBytes
                        : Math.clamp(Math.round(reached * memoryBytes), allocated, memoryBytes);
                shares[i] = upTo - allocated;
                allocated = upTo;
            }
            cost += demands.get(i).cost(shares[i]);
        }
        return new Shares(shares, cost);
    }
}
