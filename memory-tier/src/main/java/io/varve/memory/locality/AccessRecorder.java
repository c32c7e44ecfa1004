package io.varve.memory.locality;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.curve.PendingSamples;
import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.Sampling;

/**
 * A {@link ReuseRecorder} for many threads, each of which reports its accesses through an {@link AccessProbe} of its
 * own. Guarded by its own lock, which is held for at most some tens of microseconds. A request for a curve walks the
 * table slice by slice. A key that is added or removed during the walk may count twice or not at all: a few keys of
 * tens of thousands.
 *
 * <p>A probe takes the lock for sampled accesses and for those to followed keys: two or three in a hundred. It then
 * reports all accesses that it counted since its last report. The clock therefore lags by the unreported accesses of
 * the other probes, some hundred; small reuse times do not matter.
 */
public final class AccessRecorder {
    /** Slots of the table that are walked under one hold of the lock. */
    private static final int SLICE = 4096;
    /**
     * The table takes one in this many bytes of the items' memory. With items of 250 bytes, one access in a hundred can
     * then be sampled, and its key followed for longer than an item would stay in twice the memory. If several slow
     * classes are followed for longer than that, fewer accesses are sampled.
     */
    private static final int PART_OF_MEMORY = 256;
    private static final int BYTES_A_KEY = 66;
    private static final int MIN_KEYS = 1000;
    /** At most one access in a hundred is sampled, however few keys there are: each sample takes a lock, twice. */
    private static final double RATE = 0.01;

    private final Object lock = new Object();
    private final ReuseRecorder recorder;
    private final Sampling sampling;
    private final long seed;
    private long probes;

    /**
     * @param classes the number of classes, 1 to 128
     * @param sampling its highest rate should be at most one in two, to keep probes cheap
     * @param seed the seed of the sampling
     */
    public AccessRecorder(int classes, Sampling sampling, long seed) {
        recorder = new ReuseRecorder(classes, sampling, seed);
        this.sampling = sampling;
        this.seed = seed;
    }

    /** The sampling for this memory of items: the table takes a 256th of it, at most 4.3 MB and at least 70 kB. */
    public static Sampling samplingFor(long memoryBytes) {
        long keys = memoryBytes / PART_OF_MEMORY / BYTES_A_KEY;
        return new Sampling(RATE, RATE, Math.clamp(keys, MIN_KEYS, Sampling.DEFAULT.keys()));
    }

    /** Whether another recorder would follow at most twice as many keys, and at least half of them. */
    public boolean isAboutAsLargeAs(Sampling other) {
        return other.keys() <= 2 * sampling.keys() && sampling.keys() <= 2 * other.keys();
    }

    /** A new probe for one thread. */
    public AccessProbe newProbe() {
        synchronized (lock) {
            probes++;
            return new AccessProbe(this, seed + probes, recorder.block());
        }
    }

    /**
     * Whether the next access to a key is awaited. Read without the lock: see
     * {@link io.varve.memory.locality.curve.SampledKeys#find} for the accuracy.
     */
    public boolean follows(long hash) {
        return recorder.follows(hash);
    }

    /**
     * Records what a probe has counted; its last access is sampled or to a followed key.
     *
     * @param item whether there is an item after it
     * @return the length of the block for the next sample
     */
    double report(AccessProbe.Counted counted, boolean isSampled, boolean read, boolean item, long hash, int itemClass,
            long itemBytes, long expiresMillis, long nowMillis) {
        synchronized (lock) {
            recorder.count(counted.accesses, counted.writes, counted.readMisses, counted.bytes);
            recorder.end(hash, read, nowMillis);
            if (isSampled) {
                if (read) {
                    recorder.sampleRead(itemClass);
                }
                if (item) {
                    recorder.sample(hash, itemClass, itemBytes, expiresMillis, nowMillis);
                }
            }
            return recorder.block();
        }
    }

    /** {@link ReuseRecorder#moveSampledReads}. */
    void moveSampledReads(int from, int to, int reads) {
        synchronized (lock) {
            recorder.moveSampledReads(from, to, reads);
        }
    }

    /**
     * Records the removal of an item: deleted, deleted after an eviction, or expired. Not for evictions. Any thread may
     * call it; it takes the lock if the key is followed.
     */
    public void remove(long hash, long nowMillis) {
        if (recorder.follows(hash)) {
            synchronized (lock) {
                recorder.remove(hash, nowMillis);
            }
        }
    }

    /**
     * Records a new expiry time of an existing item: {@link ReuseRecorder#expires}. Any thread may call it; it takes
     * the lock if the key is followed.
     */
    public void expires(long hash, long expiresMillis, long nowMillis) {
        if (recorder.follows(hash)) {
            synchronized (lock) {
                recorder.expires(hash, expiresMillis, nowMillis);
            }
        }
    }

    /** Records the removal of all items whose hashes begin with these bits. */
    public void removeAll(long prefix, int prefixBits) {
        forEachSlice(() -> {}, (from, to) -> recorder.removeAll(prefix, prefixBits, from, to));
    }

    /**
     * {@link ReuseRecorder#forget}.
     *
     * @param pause runs after each hold of the lock
     */
    public void forget(double keep, long nowMillis, Runnable pause) {
        ReuseRecorder.requireShare(keep);
        PendingSamples[] pending = pendingSamples(nowMillis, pause);
        synchronized (lock) {
            recorder.forget(keep, pending);
        }
    }

    /**
     * {@link ReuseRecorder#stopFollowingOlder}.
     *
     * @param pause runs after each hold of the lock
     */
    public void stopFollowingOlder(long[] accesses, Runnable pause) {
        forEachSlice(pause, (from, to) -> recorder.stopFollowingOlder(accesses, from, to));
    }

    /** {@link ReuseRecorder#curve(long)}. */
    public MissRatioCurve curve(long nowMillis) {
        return query(nowMillis, recorder::curve);
    }

    /** {@link ReuseRecorder#curve(int, long)}. */
    public MissRatioCurve curve(int itemClass, long nowMillis) {
        return query(nowMillis, pending -> recorder.curve(itemClass, pending));
    }

    /**
     * {@link ReuseRecorder#forecast} of all classes.
     *
     * @param first by class, the first of its group ({@link io.varve.memory.locality.partition.ClassPenalties#groups});
     *     the group's curve is returned for that class, and an empty curve for the others
     * @param pause runs after each hold of the lock
     */
    public List<MissRatioCurve> forecasts(int[] first, long nowMillis, Runnable pause) {
        PendingSamples[] pending = pendingSamples(nowMillis, pause);
        List<MissRatioCurve> curves = new ArrayList<>(pending.length);
        for (int i = 0; i < pending.length; i++) {
            synchronized (lock) {
                curves.add(recorder.forecast(i, first, pending));
            }
            pause.run();
        }
        return curves;
    }

    /** {@link ReuseRecorder#evictionTime}. */
    public long evictionTime(double memoryBytes, long nowMillis) {
        return query(nowMillis, pending -> recorder.evictionTime(memoryBytes, pending));
    }

    /**
     * The average eviction time of each class if it had the memory for itself, in accesses; {@link Long#MAX_VALUE} if
     * it would not fill it.
     *
     * @param pause runs after each hold of the lock
     */
    public long[] evictionTimes(double memoryBytes, long nowMillis, Runnable pause) {
        PendingSamples[] pending = pendingSamples(nowMillis, pause);
        long[] times = new long[pending.length];
        for (int i = 0; i < times.length; i++) {
            synchronized (lock) {
                times[i] = recorder.evictionTime(i, memoryBytes, pending);
            }
            pause.run();
        }
        return times;
    }

    private <T> T query(long nowMillis, Function<PendingSamples[], T> question) {
        PendingSamples[] pending = pendingSamples(nowMillis, () -> {});
        synchronized (lock) {
            return question.apply(pending);
        }
    }

    private PendingSamples[] pendingSamples(long nowMillis, Runnable pause) {
        PendingSamples[] pending = PendingSamples.ofClasses(recorder.classes());
        forEachSlice(pause, (from, to) -> recorder.settle(pending, nowMillis, from, to));
        return pending;
    }

    private void forEachSlice(Runnable pause, Slice slice) {
        for (int from = 0; from < recorder.slots(); from += SLICE) {
            synchronized (lock) {
                slice.visit(from, Math.min(from + SLICE, recorder.slots()));
            }
            pause.run();
        }
    }

    /** An operation on some slots of the table. Called under the lock. */
    @FunctionalInterface
    private interface Slice {
        void visit(int from, int to);
    }

    /** Accesses that the probes have ever reported. */
    public long accesses() {
        synchronized (lock) {
            return recorder.accesses();
        }
    }

    /** Reads among them; forgotten ones count in part. */
    public double reads() {
        synchronized (lock) {
            return recorder.reads();
        }
    }

    /** The share of accesses that is sampled at present. */
    public double rate() {
        synchronized (lock) {
            return recorder.rate();
        }
    }

    /** Keys that are followed at present. */
    public int followedKeys() {
        synchronized (lock) {
            return recorder.followedKeys();
        }
    }

    /** {@link ReuseRecorder#checkIntegrity}. */
    List<String> checkIntegrity() {
        synchronized (lock) {
            return recorder.checkIntegrity();
        }
    }

    public int classes() {
        return recorder.classes();
    }

    /** {@link ReuseRecorder#bytes}. */
    public long bytes() {
        synchronized (lock) {
            return recorder.bytes();
        }
    }
}
