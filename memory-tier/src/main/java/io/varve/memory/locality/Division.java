package io.varve.memory.locality;

import java.util.Arrays;
import java.util.List;

/**
 * Divides memory among classes so that their misses together cost the least (pRedis, section 3.3). Immutable.
 *
 * <p>Memory is cut into units of a granularity. With {@code f[i][j]} the least that the first {@code i} classes' misses cost in {@code j} units,
 * <pre>
 *   f[i][j] = min over k of f[i-1][j-k] + cost of class i in k units             (equation 11)
 * </pre>
 * which is the best there is, curves with steps and plateaus included, where a greedy choice stops at the first plateau. It takes
 * O(n (M/G)²) time, and a row of {@code f} for each class, from which is seen afterwards which {@code k} was chosen: memory is linear in M/G.
 *
 * <p>Memory that lowers no cost is not handed out by this. Curves know nothing of what has not happened yet, so it is given to the classes in proportion to what they
 * have. A class that was not read in the window has no demand and no share.
 *
 * <p>For fairness each class that was read may have a floor, which is set aside before anything is divided: the paper leaves it open how schemes that are unfair are to be
 * discarded.
 */
public final class Division {
    /** No more units than this: with them, and 16 classes, a division takes some milliseconds. A finer granularity is taken for that part of the memory. */
    public static final int MOST_UNITS = 1024;
    /** 1 MiB, as the paper's. */
    public static final long DEFAULT_GRANULARITY_BYTES = 1 << 20;

    private final long granularityBytes;
    private final long floorBytes;

    /**
     * @param granularityBytes of a unit, 1 or more
     * @param floorBytes       of each class that was read, 0 or more
     * @throws IllegalArgumentException if a number is out of its range
     */
    public Division(long granularityBytes, long floorBytes) {
        if (granularityBytes < 1) {
            throw new IllegalArgumentException("The granularity is 1 byte or more, not " + granularityBytes);
        }
        if (floorBytes < 0) {
            throw new IllegalArgumentException("A floor is 0 bytes or more, not " + floorBytes);
        }
        this.granularityBytes = granularityBytes;
        this.floorBytes = floorBytes;
    }

    /**
     * The best shares.
     *
     * @param demands     of the classes, one or more
     * @param memoryBytes to be divided, all of it, 1 or more
     * @throws IllegalArgumentException if there are no classes or there is no memory, or the floors take more than there is
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
            // Nobody has asked for anything: nobody is over a share of all.
            Arrays.fill(asking, true);
            return shares(demands, asking, new double[asking.length], memoryBytes);
        }
        if (floorBytes > memoryBytes / count) {
            throw new IllegalArgumentException("Floors of " + floorBytes + " bytes for " + count
                    + " classes are more than the " + memoryBytes + " bytes to be divided");
        }
        double rest = memoryBytes - (double) floorBytes * count;
        int units = Math.clamp((long) rest / granularityBytes, 1, MOST_UNITS);
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
        double[][] least = new double[classes + 1][];
        least[0] = new double[units + 1];
        for (int i = 0; i < classes; i++) {
            least[i + 1] = least[i];
            if (asking[i]) {
                least[i + 1] = new double[units + 1];
                add(least[i], cost, costs(demands.get(i), unitBytes, cost), least[i + 1]);
            }
        }
        int[] chosen = new int[classes];
        int left = units;
        for (int i = classes - 1; i >= 0; i--) {
            if (asking[i]) {
                costs(demands.get(i), unitBytes, cost);
                chosen[i] = chosen(least[i], cost, least[i + 1][left], left);
                left -= chosen[i];
            }
        }
        return chosen;
    }

    /**
     * What a class's misses cost, by units.
     *
     * @return more units than this make no difference
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

    /** One more class: equation 11. */
    private static void add(double[] least, double[] cost, int useful, double[] next) {
        for (int j = 0; j < next.length; j++) {
            double best = least[j] + cost[0];
            int most = Math.min(j, useful);
            for (int k = 1; k <= most; k++) {
                double sum = least[j - k] + cost[k];
                if (sum < best) {
                    best = sum;
                }
            }
            next[j] = best;
        }
    }

    /** The fewest units of a class with which the least is reached: the same sums are made as in {@link #add}. */
    private static int chosen(double[] least, double[] cost, double reached, int units) {
        int k = 0;
        while (least[units - k] + cost[k] > reached) {
            k++;
        }
        return k;
    }

    /** Hands out what is left, and makes whole bytes of it that sum up to the memory. */
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
        long handedOut = 0;
        double cost = 0;
        for (int i = 0; i < bytes.length; i++) {
            if (asking[i]) {
                reached += given > 0 ? bytes[i] / given : 1.0 / count;
                long upTo = --left == 0
                        ? memoryBytes
                        : Math.clamp(Math.round(reached * memoryBytes), handedOut, memoryBytes);
                shares[i] = upTo - handedOut;
                handedOut = upTo;
            }
            cost += demands.get(i).cost(shares[i]);
        }
        return new Shares(shares, cost);
    }
}
