package io.varve.memory.expiry;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How much does the bookkeeping of one TTL cost: to set and remove it, to change its time, to sample an item, and to
 * expire a time bucket of items? Confined to the thread that measures.
 *
 * <p>Items are in two arrays, 12 bytes each and apart from the entries, so that an update of a back link costs a cache
 * miss as in a shard. The benchmark cannot see the shard's work on an expired item, nor the TTLs of real traffic. Times
 * are uniform over 100 seconds ahead, well within 120 buckets of one second, so the far levels stay empty.
 *
 * <p>Run: {@code ./varve jmh ExpiryBenchmark}
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class ExpiryBenchmark {
    private static final long NOW_MILLIS = 1_700_000_000_000L;
    private static final int SPREAD_MILLIS = 100_000;
    private static final int BASE_MILLIS = 1000;
    private static final int BUCKETS = 120;
    private static final int IN_BUCKET = 10_000;

    /** Items with a TTL, and the expiry that keeps them. Confined to the thread that measures. */
    private static final class Items implements ExpiryOwner {
        final long[] expireAt;
        final int[] entries;
        final MemoryBudget budget = new MemoryBudget(1L << 32);
        final Expiry expiry;
        int expired;

        Items(ExpireAlgorithm algorithm, int capacity) {
            expireAt = new long[capacity];
            entries = new int[capacity];
            expiry = Expiry.create(algorithm, BASE_MILLIS, BUCKETS, new Regions(), budget, Ticker.system(), this);
        }

        void add(int location, long expireAtMillis, long nowMillis) {
            expireAt[location] = expireAtMillis;
            entries[location] = expiry.add(location, expireAtMillis, nowMillis);
        }

        @Override
        public long expireAtMillis(long location) {
            return expireAt[(int) location];
        }

        @Override
        public void entryMoved(long location, int entry) {
            entries[(int) location] = entry;
        }

        @Override
        public void expire(long location) {
            expired++;
        }

        /** Proves the premise of all numbers here: all entries exist and are in their places. */
        void proveSound(long expectedSize) {
            expiry.checkIntegrity(problem -> {
                throw new IllegalStateException(problem);
            });
            if (expiry.size() != expectedSize) {
                throw new IllegalStateException(expiry.size() + " entries instead of " + expectedSize);
            }
        }
    }

    /** A population of TTLs ahead of time; nothing expires. Confined to the thread that measures. */
    @State(Scope.Thread)
    public static class Population {
        @Param({"WHEEL", "BUCKET", "RANDOM"})
        public ExpireAlgorithm algorithm = ExpireAlgorithm.WHEEL;

        @Param({"1000000"})
        public int size = 1_000_000;

        private final SplittableRandom random = new SplittableRandom(1);
        private Items items = new Items(algorithm, 0);

        @Setup
        public void fill() {
            items = new Items(algorithm, size + 1);
            for (int location = 0; location < size; location++) {
                items.add(location, timeAhead(), NOW_MILLIS);
            }
            items.proveSound(size);
        }

        @TearDown
        public void proveAndRelease() {
            items.proveSound(size);
            items.expiry.release();
        }

        private long timeAhead() {
            return NOW_MILLIS + random.nextInt(SPREAD_MILLIS);
        }
    }

    /**
     * A time bucket of items that have just become due, beside others that have not. Confined to the thread that
     * measures.
     */
    @State(Scope.Thread)
    public static class DueBucket {
        /** Sampling has no buckets, so it is excluded. */
        @Param({"WHEEL", "BUCKET"})
        public ExpireAlgorithm algorithm = ExpireAlgorithm.WHEEL;

        private static final int OTHERS = 100_000;

        private Items items = new Items(algorithm, 0);

        @Setup
        public void fill() {
            items = new Items(algorithm, OTHERS + IN_BUCKET);
            for (int location = 0; location < OTHERS; location++) {
                items.add(location, NOW_MILLIS + 10_000 + location % 90_000, NOW_MILLIS);
            }
        }

        @Setup(Level.Invocation)
        public void fillBucket() {
            items.expired = 0;
            for (int i = 0; i < IN_BUCKET; i++) {
                items.add(OTHERS + i, NOW_MILLIS + i % BASE_MILLIS, NOW_MILLIS);
            }
        }

        @TearDown(Level.Invocation)
        public void proveExpired() {
            if (items.expired != IN_BUCKET) {
                throw new IllegalStateException(items.expired + " expired instead of " + IN_BUCKET);
            }
        }

        @TearDown
        public void proveAndRelease() {
            items.proveSound(OTHERS);
            items.expiry.release();
        }
    }

    /** SET with a TTL, then DEL. */
    @Benchmark
    public int setAndRemove(Population population) {
        Items items = population.items;
        int location = population.size;
        items.add(location, population.timeAhead(), NOW_MILLIS);
        int entry = items.entries[location];
        items.expiry.remove(entry, items.expireAt[location]);
        return entry;
    }

    /** EXPIRE of a random item that has a TTL. */
    @Benchmark
    public int move(Population population) {
        Items items = population.items;
        int location = population.random.nextInt(population.size);
        long expireAt = population.timeAhead();
        int entry = items.expiry.move(items.entries[location], location, items.expireAt[location], expireAt,
                NOW_MILLIS);
        items.expireAt[location] = expireAt;
        items.entries[location] = entry;
        return entry;
    }

    /** The query of an eviction policy over volatile items. */
    @Benchmark
    public long sample(Population population) {
        return population.items.expiry.sample(population.random.nextLong());
    }

    /** A cycle of one slice that expires a bucket of 10,000; the number is for one item. */
    @Benchmark
    @OperationsPerInvocation(IN_BUCKET)
    public CycleStatus expireBucket(DueBucket due) {
        long now = NOW_MILLIS + BASE_MILLIS;
        due.items.expiry.beginCycle(now);
        return due.items.expiry.runSlice(now, System.nanoTime() + TimeUnit.SECONDS.toNanos(10));
    }
}
