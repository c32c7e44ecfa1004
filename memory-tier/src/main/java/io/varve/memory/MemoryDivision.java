package io.varve.memory;

import java.util.ArrayList;
import java.util.List;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.locality.AccessRecorder;
import io.varve.memory.locality.ClassCounts;
import io.varve.memory.locality.ClassPenalties;
import io.varve.memory.locality.Demand;
import io.varve.memory.locality.Division;
import io.varve.memory.locality.MissRatioCurve;
import io.varve.memory.locality.Shares;
import io.varve.memory.shard.ShardContext;
import org.jspecify.annotations.Nullable;

/**
 * Divides memory among the classes of penalty after each window, while the policy is {@code allkeys-penalty} (pRedis, section 3.3). Divided by maintenance;
 * many readers.
 *
 * <p>What comes of it is a share for each class, and nothing else: no item goes because of it. When room is needed, those go first whose class
 * has more than its share.
 */
final class MemoryDivision {
    /** A unit has so small a part of a memory that is not large... */
    private static final int LEAST_UNITS = 256;
    /** ... but no less than a few items. */
    private static final long LEAST_UNIT_BYTES = 4096;
    private static final double NANOS_PER_MICRO = 1000;
    private static final double PERCENT = 100;

    private final ShardContext context;
    private volatile boolean divides;
    private volatile int floorPercent;
    private volatile Timings timings = new Timings(0, 0, 0);

    /** How often memory was divided, and what the last time took. Immutable. */
    private record Timings(long count, double curvesMicros, double divisionMicros) {}

    MemoryDivision(ShardContext context) {
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
     * Has each class get its share from now on.
     *
     * @param memoryBytes that items can have, in bytes of the curves
     * @param period      what was counted in the window that has ended
     */
    void divide(AccessRecorder recorder, double memoryBytes, ClassCounts period, ClassPenalties penalties,
            Runnable giveWay) {
        if (!divides || memoryBytes < 1) {
            return;
        }
        int[] first = penalties.groups();
        long start = context.ticker().nanoTime();
        List<MissRatioCurve> curves = recorder.forecasts(first, context.ticker().wallMillis(), giveWay);
        long learnt = context.ticker().nanoTime();
        double[] shares = shares(demands(curves, period, penalties, first), (long) memoryBytes);
        if (shares != null) {
            spread(shares, period, first);
        }
        long end = context.ticker().nanoTime();
        if (shares != null && divides) {
            context.shares(shares, first);
        }
        if (!divides) {
            // Another policy came meanwhile.
            context.shares(null);
        }
        timings = new Timings(timings.count + 1, (learnt - start) / NANOS_PER_MICRO, (end - learnt) / NANOS_PER_MICRO);
        giveWay.run();
    }

    /** What each group asks for, at its first class; the others ask for nothing. */
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

    /** A miss that was counted before for another class may be put right in this window. */
    private static long reads(ClassCounts period, int penaltyClass) {
        return Math.max(0, period.reads(penaltyClass));
    }

    /** Of what a group has each of its classes has a part for what it is read: to be told, for only their sum is held to. */
    private static void spread(double[] shares, ClassCounts period, int[] first) {
        double[] reads = new double[shares.length];
        for (int i = 0; i < shares.length; i++) {
            reads[first[i]] += reads(period, i);
        }
        for (int i = shares.length - 1; i >= 0; i--) {
            // The first comes last: the others have theirs from what it was given. Of a group that nobody reads it keeps what there is.
            if (first[i] != i && reads[first[i]] > 0 || reads[first[i]] > reads(period, i)) {
                shares[i] = shares[first[i]] * reads(period, i) / reads[first[i]];
            }
        }
    }

    /** Parts of the memory; null if nobody has read anything: then the shares are what they were. */
    private double @Nullable [] shares(List<Demand> demands, long memoryBytes) {
        if (demands.stream().noneMatch(demand -> demand.reads() > 0)) {
            return null;
        }
        long unitBytes = Math.clamp(memoryBytes / LEAST_UNITS, LEAST_UNIT_BYTES, Division.DEFAULT_GRANULARITY_BYTES);
        long floorBytes = (long) (memoryBytes * (floorPercent / PERCENT));
        Shares divided = new Division(unitBytes, floorBytes).divide(demands, memoryBytes);
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
