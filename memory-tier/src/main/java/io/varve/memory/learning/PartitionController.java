package io.varve.memory.learning;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.partition.ClassCounts;
import io.varve.memory.locality.partition.ClassPenalties;
import io.varve.memory.locality.partition.Demand;
import io.varve.memory.locality.partition.MemoryPartitioner;
import io.varve.memory.locality.partition.Shares;
import io.varve.memory.shard.context.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Partitions memory among the penalty classes after each window, while the policy is {@code allkeys-penalty} (pRedis,
 * section 3.3). Written by the maintenance thread; many readers.
 *
 * <p>The result is a share for each class; partitioning itself evicts nothing. Under pressure, eviction starts with the
 * classes that exceed their share.
 */
final class PartitionController {
    /** In a small memory, a unit is this part of it... */
    private static final int MIN_UNITS = 256;
    /** ... but at least a few items. */
    private static final long MIN_UNIT_BYTES = 4096;
    private static final double NANOS_PER_MICRO = 1000;
    private static final double PERCENT = 100;

    private final ShardContext context;
    private volatile boolean divides;
    private volatile int floorPercent;
    private volatile Timings timings = new Timings(0, 0, 0);

    /** The number of partitionings and the duration of the last one. Immutable. */
    private record Timings(long count, double curvesMicros, double divisionMicros) {}

    PartitionController(ShardContext context) {
        this.context = context;
    }

    void reconfigure(CacheConfig config) {
        floorPercent = config.penalties().floorPercent();
        divides = config.evictionPolicy() == EvictionPolicy.ALLKEYS_PENALTY;
        if (!divides) {
            context.shares(null);
        }
    }

    /**
     * Computes a new share for each class.
     *
     * @param memoryBytes the bytes for items, as the curves count them
     * @param period the counts of the window that has ended
     */
    void divide(AccessRecorder recorder, double memoryBytes, ClassCounts period, ClassPenalties penalties,
            Runnable pause) {
        if (!divides || memoryBytes < 1) {
            return;
        }
        int[] first = penalties.groups();
        long start = context.ticker.nanoTime();
        List<MissRatioCurve> curves = recorder.forecasts(first, context.ticker.wallMillis(), pause);
        long learnt = context.ticker.nanoTime();
        double[] shares = shares(demands(curves, period, penalties, first), (long) memoryBytes);
        if (shares != null) {
            spread(shares, period, first);
        }
        long end = context.ticker.nanoTime();
        if (shares != null && divides) {
            context.shares(shares, first);
        }
        if (!divides) {
            // The policy has changed during the computation.
            context.shares(null);
        }
        timings = new Timings(timings.count + 1, (learnt - start) / NANOS_PER_MICRO, (end - learnt) / NANOS_PER_MICRO);
        pause.run();
    }

    /** The demand of each group, at its first class; the other classes demand nothing. */
    private static List<Demand> demands(List<MissRatioCurve> curves, ClassCounts period, ClassPenalties penalties,
            int[] first) {
        double[] reads = new double[curves.size()];
        double[] costs = new double[curves.size()];
        for (int i = 0; i < curves.size(); i++) {
            reads[first[i]] += reads(period, i);
            costs[first[i]] += reads(period, i) * penalties.micros(i);
        }
        List<Demand> demands = new ArrayList<>(curves.size());
        for (int i = 0; i < curves.size(); i++) {
            demands.add(new Demand(curves.get(i), reads[i], reads[i] == 0 ? 0 : costs[i] / reads[i]));
        }
        return demands;
    }

    /** A correction of an earlier period's misses may make the difference negative. */
    private static long reads(ClassCounts period, int penaltyClass) {
        return Math.max(0, period.reads(penaltyClass));
    }

    /** Splits a group's share among its classes by their reads. It is for statistics: only the sum is enforced. */
    private static void spread(double[] shares, ClassCounts period, int[] first) {
        double[] reads = new double[shares.length];
        for (int i = 0; i < shares.length; i++) {
            reads[first[i]] += reads(period, i);
        }
        for (int i = shares.length - 1; i >= 0; i--) {
            // The first class comes last, because it holds the share that the others split. The first class of a group
            // without reads keeps the share.
            if (first[i] != i && reads[first[i]] > 0 || reads[first[i]] > reads(period, i)) {
                shares[i] = shares[first[i]] * reads(period, i) / reads[first[i]];
            }
        }
    }

    /** The shares as parts of the memory; null if there were no reads, which leaves the shares unchanged. */
    private double @Nullable [] shares(List<Demand> demands, long memoryBytes) {
        if (demands.stream().noneMatch(demand -> demand.reads() > 0)) {
            return null;
        }
        long unitBytes = Math.clamp(memoryBytes / MIN_UNITS, MIN_UNIT_BYTES,
                MemoryPartitioner.DEFAULT_GRANULARITY_BYTES);
        long floorBytes = (long) (memoryBytes * (floorPercent / PERCENT));
        Shares divided = new MemoryPartitioner(unitBytes, floorBytes).divide(demands, memoryBytes);
        double[] shares = new double[demands.size()];
        for (int i = 0; i < shares.length; i++) {
            shares[i] = (double) divided.bytes(i) / memoryBytes;
        }
        return shares;
    }

    long count() {
        return timings.count;
    }

    double curvesMicros() {
        return timings.curvesMicros;
    }

    double divisionMicros() {
        return timings.divisionMicros;
    }
}
