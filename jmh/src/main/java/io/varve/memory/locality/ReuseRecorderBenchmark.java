package io.varve.memory.locality;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

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
 * What does it cost to record a read, on average over those that are drawn and those that are not, and what a curve? Confined to the thread
 * that measures.
 *
 * <p>It cannot see that a server's other work takes the table out of the processor's caches, nor what a lock costs that others hold.
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

    /** Keys that are asked for, each as often as any other: at 10 million the table is full at 1 %, and what is read is in no cache. */
    @Param({"1000000", "10000000"})
    public int keys;

    private final ReuseRecorder recorder = new ReuseRecorder(16, Sampling.DEFAULT, 1);
    /** As a server has it: one access in a hundred is drawn from the start. */
    private final AccessRecorder shared = new AccessRecorder(1, AccessRecorder.samplingFor(1L << 40), 1);
    private final AccessProbe probe = shared.newProbe();
    private final SplittableRandom random = new SplittableRandom(2);
    private final long[] hashes = new long[HASHES];
    private final int[] asked = new int[HASHES];
    /** What an item has in its header, by key. */
    private boolean[] followed = {};
    private int next;
    private long reads;

    @Setup
    public void fill() {
        followed = new boolean[keys];
        for (int i = 0; i < 4 * keys; i++) {
            int key = random.nextInt(keys);
            recorder.read(hash(key), i & 15, ITEM_BYTES, ReuseRecorder.NEVER, 0);
            tellProbe(key, hash(key));
        }
        for (int i = 0; i < HASHES; i++) {
            asked[i] = random.nextInt(keys);
            hashes[i] = hash(asked[i]);
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

    /** The same through a session's probe, with the lock that it takes where it has to. */
    @Benchmark
    public void probe() {
        next = next + 1 & HASHES - 1;
        tellProbe(asked[next], hashes[next]);
    }

    private void tellProbe(int key, long hash) {
        boolean before = followed[key];
        if (probe.countRead(before)) {
            followed[key] = probe.read(hash, 0, ITEM_BYTES, ReuseRecorder.NEVER, 0, before);
        }
    }

    /** Of one class among sixteen. */
    @Benchmark
    public double curve() {
        return recorder.curve(3, 0).missRatio(1e6);
    }
}
