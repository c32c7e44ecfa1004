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
        long start = context.ticker().nanoTime();
        List<MissRatioCurve> curves = recorder.forecasts(context.ticker().wallMillis(), giveWay);
        long learnt = context.ticker().nanoTime();
        List<Demand> demands = new ArrayList<>(curves.size());
        for (int i = 0; i < curves.size(); i++) {
            // A miss that was counted before for another class may be put right in this window.
            demands.add(new Demand(curves.get(i), Math.max(0, period.reads(i)), penalties.micros(i)));
        }
        double[] shares = shares(demands, (long) memoryBytes);
        long end = context.ticker().nanoTime();
        if (shares != null && divides) {
            context.shares(shares);
        }
        if (!divides) {
            // Another policy came meanwhile.
            context.shares(null);
        }
        timings = new Timings(timings.count + 1, (learnt - start) / NANOS_PER_MICRO, (end - learnt) / NANOS_PER_MICRO);
        giveWay.run();
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
