package io.varve.memory.locality;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.Sampling;
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
 * How much does it cost to record a read, on average over sampled and unsampled ones, and to compute a curve? Confined
 * to the thread that measures.
 *
 * <p>The benchmark cannot see that a server's other work evicts the table from the processor's caches, nor the cost of
 * a contended lock.
 *
 * <p>Run: {@code ./varve jmh ReuseRecorderBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ReuseRecorderBenchmark {
    private static final int HASHES = 1 << 20;
    private static final int ITEM_BYTES = 100;

    /**
     * Number of uniformly requested keys: at 10 million the table is full at 1 %, and no processor cache holds the
     * accessed lines.
     */
    @Param({"1000000", "10000000"})
    public int keys;

    private final ReuseRecorder recorder = new ReuseRecorder(16, Sampling.DEFAULT, 1);
    /** As in a server: one access in a hundred is sampled from the start. */
    private final AccessRecorder shared = new AccessRecorder(1, AccessRecorder.samplingFor(1L << 40), 1);
    private final AccessProbe probe = shared.newProbe();
    private final SplittableRandom random = new SplittableRandom(2);
    private final long[] hashes = new long[HASHES];
    private final int[] sequence = new int[HASHES];
    /** The flag in an item's header, by key. */
    private boolean[] followed = {};
    private int next;
    private long reads;

    @Setup
    public void fill() {
        followed = new boolean[keys];
        for (int i = 0; i < 4 * keys; i++) {
            int key = random.nextInt(keys);
            recorder.read(hash(key), i & 15, ITEM_BYTES, ReuseRecorder.NEVER, 0);
            feedProbe(key, hash(key));
        }
        for (int i = 0; i < HASHES; i++) {
            sequence[i] = random.nextInt(keys);
            hashes[i] = hash(sequence[i]);
        }
        reads = (long) recorder.reads();
        proveThatKeysAreFollowed();
    }

    private static long hash(int key) {
        long mixed = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        return mixed ^ mixed >>> 32;
    }

    @TearDown
    public void proveThatKeysAreFollowed() {
        if (recorder.followedKeys() < Math.min(keys, Sampling.DEFAULT.keys()) / 2) {
            throw new IllegalStateException("Only " + recorder.followedKeys() + " keys are followed");
        }
        if (shared.followedKeys() < Math.min(keys / 100, Sampling.DEFAULT.keys()) / 2) {
            throw new IllegalStateException("Only " + shared.followedKeys() + " keys are followed");
        }
        if ((long) recorder.reads() < reads) {
            throw new IllegalStateException("Reads were not counted");
        }
    }

    @Benchmark
    public void read() {
        next = next + 1 & HASHES - 1;
        recorder.read(hashes[next], next & 15, ITEM_BYTES, ReuseRecorder.NEVER, 0);
    }

    /** Records a read through a session's probe, including its lock where needed. */
    @Benchmark
    public void probe() {
        next = next + 1 & HASHES - 1;
        feedProbe(sequence[next], hashes[next]);
    }

    private void feedProbe(int key, long hash) {
        boolean before = followed[key];
        if (probe.countRead(before)) {
            followed[key] = probe.read(hash, 0, ITEM_BYTES, ReuseRecorder.NEVER, 0, before);
        }
    }

    /** Computes the curve of one class among sixteen. */
    @Benchmark
    public double curve() {
        return recorder.curve(3, 0).missRatio(1e6);
    }
}
