package io.varve.memory.index.vector;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.index.ScalarTagScanner;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.Regions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long does one search of an index bucket for a tag take, in vector and in scalar code? Confined to the thread that
 * measures.
 *
 * <p>The buckets stay in the first-level cache, so the benchmark cannot see the cache miss that dominates a real
 * lookup. Every search finds one slot, which the core may predict better than in real traffic. Each benchmark has a
 * scanner field of its own type, as a server has one scanner, so it cannot see the cost of two scanners at one call
 * site.
 *
 * <p>Run: {@code ./varve jmh TagScanBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class TagScanBenchmark {
    private static final int BUCKETS = 128;
    private static final int BUCKET_BYTES = 64;
    private static final int SLOTS = 7;
    private static final int TABLE_BYTES = BUCKETS * BUCKET_BYTES;

    private final ScalarTagScanner scalar = new ScalarTagScanner();
    private final VectorTagScanner vector = new VectorTagScanner();
    private final Regions regions = new Regions();
    private final short[] wanted = new short[BUCKETS];
    private final int[] slots = new int[BUCKETS];
    private long table;
    private int at;

    @Setup
    public void fill() {
        table = regions.allocate(TABLE_BYTES);
        SplittableRandom random = new SplittableRandom(1);
        for (int b = 0; b < BUCKETS; b++) {
            long bucket = table + (long) b * BUCKET_BYTES;
            Memory.putByte(bucket, (byte) 0x7F);
            int base = random.nextInt(1 << 16);
            for (int slot = 0; slot < SLOTS; slot++) {
                Memory.putShort(bucket + 2 + 2L * slot, (short) (base + slot * 9_001));
            }
            slots[b] = random.nextInt(SLOTS);
            wanted[b] = (short) (base + slots[b] * 9_001);
        }
        proveHits();
    }

    @TearDown
    public void proveHits() {
        for (int b = 0; b < BUCKETS; b++) {
            long bucket = table + (long) b * BUCKET_BYTES;
            int expected = 1 << slots[b];
            if (scalar.matches(bucket, wanted[b]) != expected || vector.matches(bucket, wanted[b]) != expected) {
                throw new IllegalStateException("Bucket " + b + " does not answer slot " + slots[b]);
            }
        }
    }

    @Benchmark
    public int scalar() {
        int b = at++ & BUCKETS - 1;
        return scalar.matches(table + (long) b * BUCKET_BYTES, wanted[b]);
    }

    @Benchmark
    public int vector() {
        int b = at++ & BUCKETS - 1;
        return vector.matches(table + (long) b * BUCKET_BYTES, wanted[b]);
    }
}
