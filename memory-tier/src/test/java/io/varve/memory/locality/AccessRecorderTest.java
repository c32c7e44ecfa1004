package io.varve.memory.locality;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.Sampling;
import io.varve.memory.locality.curve.StackDistances;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Tests a recorder to which several threads report their accesses. */
class AccessRecorderTest {
    private static final Sampling ONE_PERCENT = new Sampling(0.01, 0.01, 64_000);
    private static final int ITEM = 100;

    private static long hash(long key) {
        long mixed = (key + 1) * 0x9E37_79B9_7F4A_7C15L;
        mixed = (mixed ^ mixed >>> 32) * 0xD6E8_FEB8_6659_FD93L;
        return mixed ^ mixed >>> 32;
    }

    /** Items as in a cache: under locks, with a followed bit each. Thread-safe. */
    private static final class Items {
        private static final int LOCKS = 64;

        private final AccessRecorder recorder;
        private final boolean[] followed;
        private final Object[] locks = new Object[LOCKS];

        Items(AccessRecorder recorder, int keys) {
            this.recorder = recorder;
            followed = new boolean[keys];
            Arrays.setAll(locks, _ -> new Object());
        }

        /**
         * Some are misses in a small memory: a read that finds nothing, and the write after it.
         *
         * @return whether the recorder was given the access, except some reads that find nothing
         */
        boolean read(AccessProbe probe, int key, boolean found) {
            synchronized (locks[key % LOCKS]) {
                if (found) {
                    return readItem(probe, key);
                }
                boolean reported = readNothing(probe, key);
                return writeItem(probe, key) || reported;
            }
        }

        private boolean readItem(AccessProbe probe, int key) {
            boolean before = followed[key];
            boolean more = probe.countRead(before);
            if (more) {
                followed[key] = probe.read(hash(key), 0, ITEM, ReuseRecorder.NEVER, 0, before);
            }
            return more && (before || followed[key]);
        }

        private boolean readNothing(AccessProbe probe, int key) {
            boolean before = recorder.follows(hash(key));
            if (probe.countReadMiss(hash(key))) {
                probe.readMiss(hash(key), 0, 0);
            }
            return before;
        }

        private boolean writeItem(AccessProbe probe, int key) {
            boolean before = recorder.follows(hash(key));
            boolean more = probe.countWrite(before);
            followed[key] = more && probe.write(hash(key), 0, ITEM, ReuseRecorder.NEVER, 0, before);
            return more && (before || followed[key]);
        }
    }

    @Test
    void aProbeLearnsTheSameAsTheRecorder() {
        AccessRecorder recorder = new AccessRecorder(1, ONE_PERCENT, 1);
        Items items = new Items(recorder, 100_000);
        AccessProbe probe = recorder.newProbe();
        StackDistances exact = new StackDistances();
        SplittableRandom random = new SplittableRandom(2);
        int reported = 0;
        int accesses = 2_000_000;
        for (int i = 0; i < accesses; i++) {
            int key = (int) (100_000 * Math.pow(random.nextDouble(), 3));
            exact.read(hash(key), ITEM);
            reported += items.read(probe, key, random.nextInt(3) > 0) ? 1 : 0;
        }
        assertThat(recorder.accesses()).isBetween((long) accesses, 4L * accesses / 3 + 10_000);
        assertThat((double) reported / accesses).as("the share for which a lock is taken").isLessThan(0.04);
        assertThat(recorder.checkIntegrity()).isEmpty();
        MissRatioCurve learnt = recorder.curve(0);
        MissRatioCurve wanted = exact.curve();
        for (int i = 1; i <= 20; i++) {
            double bytes = wanted.largestBytes() * i / 20;
            assertThat(learnt.missRatio(bytes)).as("%.0f bytes", bytes)
                    .isCloseTo(wanted.missRatio(bytes), within(0.02));
        }
    }

    /** Several threads record while others query and drop followed keys: no pending sample is lost or counted twice. */
    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void severalThreadsReportConcurrently(int threads) throws InterruptedException, ExecutionException {
        AccessRecorder recorder = new AccessRecorder(1, ONE_PERCENT, 1);
        int keys = 20_000;
        Items items = new Items(recorder, keys);
        int accesses = 1_000_000;
        List<Callable<Long>> tasks = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            SplittableRandom random = new SplittableRandom(thread);
            tasks.add(() -> {
                AccessProbe probe = recorder.newProbe();
                for (int i = 0; i < accesses; i++) {
                    items.read(probe, random.nextInt(keys), true);
                    if (i % 1000 == 0) {
                        recorder.remove(hash(keys + random.nextInt(1000)), 0);
                    }
                }
                return (long) accesses;
            });
        }
        tasks.add(() -> {
            for (int i = 0; i < 200; i++) {
                recorder.curve(0);
                recorder.stopFollowingOlder(new long[] {Long.MAX_VALUE}, () -> {});
                recorder.removeAll(1L << 62, 63);
            }
            return 0L;
        });
        long reported = 0;
        try (ExecutorService pool = Executors.newFixedThreadPool(tasks.size())) {
            for (Future<Long> done : pool.invokeAll(tasks)) {
                reported += done.get();
            }
        }
        assertThat(recorder.accesses()).as("except what each probe has not reported yet")
                .isBetween(reported - threads * 200L, reported);
        assertThat(recorder.checkIntegrity()).isEmpty();
        assertThat(recorder.followedKeys()).as("one in a hundred of those that are waited for: as many as keys")
                .isBetween(keys / 200, keys / 50);
        MissRatioCurve curve = recorder.curve(0);
        for (double share = 0.1; share < 0.95; share += 0.1) {
            assertThat(curve.missRatio(share * keys * ITEM)).as("share %.1f", share)
                    .isCloseTo(1 - share, within(0.03));
        }
    }

    /** Each access is drawn, so that each is the end of the wait that the one before began: nothing may be lost. */
    @Test
    void noReuseIsLostIfEveryAccessIsReported() throws InterruptedException, ExecutionException {
        int keys = 500;
        AccessRecorder recorder = new AccessRecorder(1, Sampling.all(4 * keys), 1);
        int threads = 4;
        Items items = new Items(recorder, threads * keys);
        int rounds = 400;
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            // This thread has its own keys, whose slots lie among those of others.
            int first = thread * keys;
            tasks.add(() -> {
                AccessProbe probe = recorder.newProbe();
                for (int round = 0; round < rounds; round++) {
                    for (int i = 0; i < keys; i++) {
                        items.read(probe, first + i, true);
                    }
                }
                return null;
            });
        }
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            for (Future<Void> done : pool.invokeAll(tasks)) {
                done.get();
            }
        }
        assertThat(recorder.accesses()).isEqualTo((long) threads * keys * rounds);
        assertThat(recorder.followedKeys()).isEqualTo(threads * keys);
        assertThat(recorder.checkIntegrity()).isEmpty();
        assertThat(recorder.curve(0).missRatio(1e9)).as("all but the first of each key have come again")
                .isCloseTo(1.0 / rounds, within(0.001));
    }

    /**
     * With items of many sizes, a sample of them is measured: it estimates how many bytes were accessed, and so how
     * fast items sink.
     */
    @Test
    void sampledSizesEstimateTheTotal() {
        AccessRecorder recorder = new AccessRecorder(1, ONE_PERCENT, 1);
        AccessProbe probe = recorder.newProbe();
        StackDistances exact = new StackDistances();
        SplittableRandom random = new SplittableRandom(5);
        boolean[] followed = new boolean[20_000];
        for (int i = 0; i < 2_000_000; i++) {
            // Every sixteenth access is to a large item: weighing one in sixteen, always the same, would weigh these
            // alone, or none of them.
            int key = random.nextInt(followed.length / 16) * 16 + i % 16;
            int bytes = i % 16 == 0 ? 4000 : 60;
            exact.read(hash(key), bytes);
            if (probe.countRead(followed[key])) {
                followed[key] = probe.read(hash(key), 0, bytes, ReuseRecorder.NEVER, 0, followed[key]);
            }
        }
        MissRatioCurve learnt = recorder.curve(0);
        MissRatioCurve wanted = exact.curve();
        for (int i = 1; i <= 20; i++) {
            double bytes = wanted.largestBytes() * i / 20;
            assertThat(learnt.missRatio(bytes)).as("%.0f bytes", bytes)
                    .isCloseTo(wanted.missRatio(bytes), within(0.03));
        }
    }

    @Test
    void removal_byHashPrefixRemovesMatchingKeys() {
        AccessRecorder recorder = new AccessRecorder(1, Sampling.all(1000), 1);
        AccessProbe probe = recorder.newProbe();
        for (int key = 0; key < 1000; key++) {
            long hash = hash(key) >>> 5 | (long) (key % 32) << 59;
            assertThat(probe.countRead(false)).isTrue();
            assertThat(probe.read(hash, 0, ITEM, ReuseRecorder.NEVER, 0, false)).isTrue();
        }
        assertThat(recorder.followedKeys()).isEqualTo(1000);
        recorder.removeAll(31, 5);
        assertThat(recorder.followedKeys()).isEqualTo(1000 - 1000 / 32);
        recorder.removeAll(0, 5);
        assertThat(recorder.followedKeys()).isEqualTo(1000 - 1000 / 32 - 32);
        recorder.removeAll(0, 0);
        assertThat(recorder.followedKeys()).isZero();
        assertThat(recorder.checkIntegrity()).isEmpty();
    }

    @Test
    void theTableIsAFractionOfMemory() {
        for (long memory : new long[] {1L << 20, 100L << 20, 1L << 30, 10L << 30, 1L << 40}) {
            AccessRecorder recorder = new AccessRecorder(1, AccessRecorder.samplingFor(memory), 1);
            assertThat(recorder.bytes()).as("%d", memory).isLessThan(200_000 + Math.min(memory / 128, 4_500_000));
        }
    }
}
