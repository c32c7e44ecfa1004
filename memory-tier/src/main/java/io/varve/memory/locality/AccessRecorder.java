package io.varve.memory.locality;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * A {@link ReuseRecorder} that many threads tell of their accesses, each through a {@link AccessProbe} of its own. Guarded by its own lock, which is held for
 * some tens of microseconds at the most; whoever asks for a curve walks over the table slice by slice, and what comes and goes meanwhile may count twice or not at
 * all: a few keys of tens of thousands.
 *
 * <p>A probe takes the lock for accesses that are drawn, and for those to keys that are followed: two or three in a hundred. It tells then of all accesses that it has
 * counted since it told last. So the clock is behind by what the other probes have not told yet, some hundred accesses; it is not the small reuse times that matter.
 */
public final class AccessRecorder {
    /** Slots of the table that are walked over under one hold of the lock. */
    private static final int SLICE = 4096;
    /**
     * The table takes one in so many bytes of the memory that the items have. With items of 250 bytes one access in a hundred can then be drawn, and followed for longer than an item
     * would stay in twice the memory; where several slow classes are followed for longer than that, fewer are drawn.
     */
    private static final int PART_OF_MEMORY = 256;
    private static final int BYTES_A_KEY = 66;
    private static final int LEAST_KEYS = 1000;
    /** One in a hundred accesses is drawn, however few keys there are: each that is drawn takes a lock, twice. */
    private static final double RATE = 0.01;

    private final Object lock = new Object();
    private final ReuseRecorder recorder;
    private final Sampling sampling;
    private final long seed;
    private long probes;

    /**
     * @param classes  how many there are, 1 to 128
     * @param sampling at most one access in two is drawn by a probe that should cost little
     * @param seed     of the draws
     */
    public AccessRecorder(int classes, Sampling sampling, long seed) {
        recorder = new ReuseRecorder(classes, sampling, seed);
        this.sampling = sampling;
        this.seed = seed;
    }

    /** For items in so much memory: the table takes a 256th of it, 4.3 MB at the most and 70 kB at the least. */
    public static Sampling samplingFor(long memoryBytes) {
        long keys = memoryBytes / PART_OF_MEMORY / BYTES_A_KEY;
        return new Sampling(RATE, RATE, Math.clamp(keys, LEAST_KEYS, Sampling.DEFAULT.keys()));
    }

    /** Whether another recorder would follow at the most twice as many keys, and at the least half of them. */
    public boolean isAboutAsLargeAs(Sampling other) {
        return other.keys() <= 2 * sampling.keys() && sampling.keys() <= 2 * other.keys();
    }

    /** A probe for one thread. */
    public AccessProbe newProbe() {
        synchronized (lock) {
            probes++;
            return new AccessProbe(this, seed + probes, recorder.block());
        }
    }

    /** Whether the next access to a key is waited for. Asked without the lock: {@link FollowedKeys#find} says what that is worth. */
    public boolean follows(long hash) {
        return recorder.follows(hash);
    }

    /**
     * What a probe has counted, the last of which is an access that is drawn or to a key that is followed.
     *
     * @param item whether there is one after it
     * @return the length of the block in which the next is to be drawn
     */
    double tell(AccessProbe.Counted counted, boolean isDrawn, boolean read, boolean item, long hash, int itemClass,
            long itemBytes, long expiresMillis, long nowMillis) {
        synchronized (lock) {
            recorder.count(counted.accesses, counted.writes, counted.ofNothing, counted.bytes);
            recorder.end(hash, read, nowMillis);
            if (isDrawn) {
                if (read) {
                    recorder.drawRead(itemClass);
                }
                if (item) {
                    recorder.draw(hash, itemClass, itemBytes, expiresMillis, nowMillis);
                }
            }
            return recorder.block();
        }
    }

    /** {@link ReuseRecorder#moveDrawnReads}. */
    void moveDrawnReads(int from, int to, int reads) {
        synchronized (lock) {
            recorder.moveDrawnReads(from, to, reads);
        }
    }

    /** An item has gone: deleted, evicted before and deleted now, or expired. Not for what is evicted. Any thread; takes the lock if the key is followed. */
    public void remove(long hash, long nowMillis) {
        if (recorder.follows(hash)) {
            synchronized (lock) {
                recorder.remove(hash, nowMillis);
            }
        }
    }

    /** An item that is there is to expire at another time: {@link ReuseRecorder#expires}. Any thread; takes the lock if the key is followed. */
    public void expires(long hash, long expiresMillis, long nowMillis) {
        if (recorder.follows(hash)) {
            synchronized (lock) {
                recorder.expires(hash, expiresMillis, nowMillis);
            }
        }
    }

    /** All items have gone whose hashes begin with these bits. */
    public void removeAll(long prefix, int prefixBits) {
        walk(() -> {}, (from, to) -> recorder.removeAll(prefix, prefixBits, from, to));
    }

    /**
     * {@link ReuseRecorder#forget}.
     *
     * @param giveWay done after each hold of the lock
     */
    public void forget(double keep, long nowMillis, Runnable giveWay) {
        ReuseRecorder.requireShare(keep);
        Waiting[] waiting = waiting(nowMillis, giveWay);
        synchronized (lock) {
            recorder.forget(keep, waiting);
        }
    }

    /**
     * {@link ReuseRecorder#giveUp}.
     *
     * @param giveWay done after each hold of the lock
     */
    public void giveUp(long[] accesses, Runnable giveWay) {
        walk(giveWay, (from, to) -> recorder.giveUp(accesses, from, to));
    }

    /** {@link ReuseRecorder#curve(long)}. */
    public MissRatioCurve curve(long nowMillis) {
        return ask(nowMillis, recorder::curve);
    }

    /** {@link ReuseRecorder#curve(int, long)}. */
    public MissRatioCurve curve(int itemClass, long nowMillis) {
        return ask(nowMillis, waiting -> recorder.curve(itemClass, waiting));
    }

    /**
     * {@link ReuseRecorder#forecast} of all classes.
     *
     * @param first   by class, the first of its group ({@link ClassPenalties#groups}); the curve of the group is told for it, and for the others that of nothing
     * @param giveWay done after each hold of the lock
     */
    public List<MissRatioCurve> forecasts(int[] first, long nowMillis, Runnable giveWay) {
        Waiting[] waiting = waiting(nowMillis, giveWay);
        List<MissRatioCurve> curves = new ArrayList<>(waiting.length);
        for (int i = 0; i < waiting.length; i++) {
            synchronized (lock) {
                curves.add(recorder.forecast(i, first, waiting));
            }
            giveWay.run();
        }
        return curves;
    }

    /** {@link ReuseRecorder#evictionTime}. */
    public long evictionTime(double memoryBytes, long nowMillis) {
        return ask(nowMillis, waiting -> recorder.evictionTime(memoryBytes, waiting));
    }

    /**
     * The average eviction time of each class that had the memory for itself, in accesses; {@link Long#MAX_VALUE} if it would not fill it.
     *
     * @param giveWay done after each hold of the lock
     */
    public long[] evictionTimes(double memoryBytes, long nowMillis, Runnable giveWay) {
        Waiting[] waiting = waiting(nowMillis, giveWay);
        long[] times = new long[waiting.length];
        for (int i = 0; i < times.length; i++) {
            synchronized (lock) {
                times[i] = recorder.evictionTime(i, memoryBytes, waiting);
            }
            giveWay.run();
        }
        return times;
    }

    private <T> T ask(long nowMillis, Function<Waiting[], T> question) {
        Waiting[] waiting = waiting(nowMillis, () -> {});
        synchronized (lock) {
            return question.apply(waiting);
        }
    }

    private Waiting[] waiting(long nowMillis, Runnable giveWay) {
        Waiting[] waiting = Waiting.ofClasses(recorder.classes());
        walk(giveWay, (from, to) -> recorder.settle(waiting, nowMillis, from, to));
        return waiting;
    }

    private void walk(Runnable giveWay, Slice slice) {
        for (int from = 0; from < recorder.slots(); from += SLICE) {
            synchronized (lock) {
                slice.visit(from, Math.min(from + SLICE, recorder.slots()));
            }
            giveWay.run();
        }
    }

    /** What is done with some slots of the table. */
    @FunctionalInterface
    private interface Slice {
        void visit(int from, int to);
    }

    /** Accesses that the probes have told of, ever. */
    public long accesses() {
        synchronized (lock) {
            return recorder.accesses();
        }
    }

    /** Reads among them; what was forgotten in part counts in part. */
    public double reads() {
        synchronized (lock) {
            return recorder.reads();
        }
    }

    /** The share of accesses that is drawn at present. */
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
