package io.varve.memory.locality;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.partition.Demand;
import io.varve.memory.locality.partition.MemoryPartitioner;
import io.varve.memory.locality.partition.Shares;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does a division take, once a window, by the number of read classes and of units? Confined to the thread that
 * measures.
 *
 * <p>All curves decrease over the whole memory, which causes the most work: when further memory brings nothing, fewer
 * units are tried. The benchmark cannot see the cost of the curves ({@link ReuseRecorderBenchmark}).
 *
 * <p>Run: {@code ./varve jmh MemoryPartitionerBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class MemoryPartitionerBenchmark {
    private static final long MEMORY = 1L << 30;
    private static final int POINTS = 1000;

    /** The paper's two databases, and all classes. */
    @Param({"2", "16"})
    public int classes;

    /** 1,024 is the maximum; 500 are the paper's 500 MB in units of 1 MB. */
    @Param({"128", "500", "1024"})
    public int units;

    private final List<Demand> demands = new ArrayList<>();

    @Setup
    public void drawCurves() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < classes; i++) {
            MissRatioCurve.Builder curve = new MissRatioCurve.Builder(POINTS);
            double steepness = 1 + 10 * random.nextDouble();
            for (int point = 1; point <= POINTS; point++) {
                double share = (double) point / POINTS;
                curve.add(share * MEMORY, Math.exp(-steepness * share));
            }
            demands.add(new Demand(curve.build(), 1000 + random.nextInt(100_000), 10 << i));
        }
        Shares shares = new MemoryPartitioner(MEMORY / units, 0).divide(demands, MEMORY);
        double evenly = 0;
        for (Demand demand : demands) {
            evenly += demand.cost((double) MEMORY / classes);
        }
        if (!(shares.costMicros() < evenly)) {
            throw new IllegalStateException("Equal shares cost " + evenly + ", these " + shares.costMicros());
        }
    }

    @Benchmark
    public long divide() {
        return new MemoryPartitioner(MEMORY / units, 0).divide(demands, MEMORY).bytes(0);
    }
}
