package io.varve.memory.penalty;

import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
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
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does it cost to note a miss, to match a write with a miss, to look up a class, and to remember an eviction?
 * Confined to the thread that measures.
 *
 * <p>The memory of all shards is one here: 1 MiB of misses, 16 MiB of classes. The benchmark cannot see the cost of a
 * lock, nor that a server's other work evicts these lines from the processor's caches.
 *
 * <p>Run: {@code ./varve jmh PenaltyBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class PenaltyBenchmark {
    private static final long LONGEST_MICROS = 10_000_000;
    private static final int HASHES = 1 << 20;
    private static final long STRANGERS = 1L << 40;

    /** Number of remembered keys: both generations are then full, with keys of all classes. */
    @Param("2600000")
    public int keys;

    private final Regions regions = new Regions();
    private final MemoryBudget budget = new MemoryBudget(1 << 30);
    private final MissMonitor monitor = Objects
            .requireNonNull(MissMonitor.open(1 << 20, LONGEST_MICROS, Ticker.system(), regions, budget));
    private final RememberedClasses classes = Objects
            .requireNonNull(RememberedClasses.open(RememberedClasses.DEFAULT_BYTES, regions, budget));
    private final long[] known = new long[HASHES];
    private final long[] strangers = new long[HASHES];
    private int next;
    private long evicted = 2 * STRANGERS;

    @Setup
    public void fill() {
        for (int i = 0; i < keys; i++) {
            classes.remember(hash(i), i & 15);
        }
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < HASHES; i++) {
            known[i] = hash(random.nextInt(keys));
            strangers[i] = hash(STRANGERS + i);
        }
        if (classes.keys() < keys * 0.97) {
            throw new IllegalStateException("Only " + classes.keys() + " keys are remembered");
        }
    }

    private static long hash(long key) {
        long mixed = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        return mixed ^ mixed >>> 32;
    }

    @TearDown
    public void proveThatMissesAreMeasured() {
        monitor.missed(1, 0);
        if (written(1) < 0) {
            throw new IllegalStateException("A miss was not noted");
        }
    }

    private long written(long hash) {
        long waited = monitor.missAgeMicros(hash);
        monitor.end();
        return waited;
    }

    private int next() {
        next = next + 1 & HASHES - 1;
        return next;
    }

    /** A read that misses, and the write that follows immediately. */
    @Benchmark
    public long missAndWrite() {
        long hash = known[next()];
        monitor.missed(hash, 0);
        return written(hash);
    }

    /** Reads that miss without a subsequent write. */
    @Benchmark
    public void miss() {
        monitor.missed(strangers[next()], 0);
    }

    /** A write of a key without a miss. */
    @Benchmark
    public long write() {
        return written(strangers[next()]);
    }

    @Benchmark
    public int classOfAKnownKey() {
        return classes.classOf(known[next()]);
    }

    @Benchmark
    public int classOfAStranger() {
        return classes.classOf(strangers[next()]);
    }

    /** Remembers a new key each time, including new generations. */
    @Benchmark
    public void evict() {
        evicted++;
        classes.remember(hash(evicted), (int) evicted & 15);
    }
}
