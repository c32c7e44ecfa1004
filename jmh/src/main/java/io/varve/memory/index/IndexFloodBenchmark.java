package io.varve.memory.index;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.index.vector.TagScanners;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.MemoryBudget;
import io.varve.memory.offheap.Regions;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * How much do keys cost, for themselves and for the others, if an attacker has chosen them for one home bucket or for
 * one hash? Confined to the thread that measures.
 *
 * <p>The benchmark chooses the hashes and looks them up rather than computing them; the second hash, which only an
 * overflow uses, is computed. It cannot see locks, or the cost of a server's key beside the index.
 *
 * <p>Run: {@code ./varve jmh IndexFloodBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class IndexFloodBenchmark {
    private static final int KEY_BYTES = 16;
    private static final int ITEM_BYTES = 32;
    private static final long SAME = 0x1234_5678_9ABC_DEF0L;

    /** The common property of the chosen keys. */
    public enum Flood {
        /** There are none: the cost of the others alone. */
        NONE(0),
        /** All bits of the home bucket. */
        ONE_HOME_BUCKET(100_000),
        /** All 64 bits. */
        EQUAL_HASH(10_000);

        private final int count;

        Flood(int count) {
            this.count = count;
        }

        private long hash(SplittableRandom random) {
            return this == EQUAL_HASH ? SAME : random.nextLong() & 0xFF00_0000_0000_FFFFL;
        }
    }

    @Param
    public Flood flood = Flood.NONE;

    /** The other keys. */
    @Param("100000")
    public int keys;

    private final Regions regions = new Regions();
    private final KeyHash keyHash = new KeyHash(11);
    private long items;
    private long itemBytes;
    private long probe;
    private Index index;
    private long random = 1;

    /** Items are keys in a row, each with its hash; a location is a position in it. */
    private final class Keys implements KeyVerifier {
        @Override
        public boolean matches(long location, long keyAddress, int keyLength) {
            return Memory.equal(item(location), keyAddress, keyLength);
        }

        @Override
        public long hashOf(long location) {
            return hash(location);
        }

        @Override
        public int secondHash(long keyAddress, int keyLength) {
            return keyHash.second(keyAddress, keyLength);
        }

        @Override
        public int secondHashOf(long location) {
            return keyHash.second(item(location), KEY_BYTES);
        }
    }

    @Setup(Level.Trial)
    public void fill() {
        int count = keys + flood.count;
        itemBytes = Math.max(Regions.MIN_BYTES, Long.highestOneBit((long) count * ITEM_BYTES) << 1);
        items = regions.allocate(itemBytes);
        probe = regions.allocate(Regions.MIN_BYTES);
        index = new Index(new Keys(), TagScanners.best(), regions, new MemoryBudget(1L << 32), 0.87);
        SplittableRandom hashes = new SplittableRandom(3);
        for (long key = 0; key < count; key++) {
            write(item(key), key);
            Memory.putLong(item(key) + KEY_BYTES, key < keys ? hashes.nextLong() : flood.hash(hashes));
            index.insert(hash(key), key);
        }
        while (index.rehashStep(1_000)) {
            // until there is one table
        }
        provePremises();
    }

    @TearDown(Level.Trial)
    public void release() {
        provePremises();
        index.release();
        regions.free(items, itemBytes);
        regions.free(probe, Regions.MIN_BYTES);
    }

    private void provePremises() {
        int count = keys + flood.count;
        for (long key = 0; key < count; key++) {
            if (find(key) != key) {
                throw new IllegalStateException("Key " + key + " is not found");
            }
        }
        if (index.size() != count || index.rehashing() || index.shape().inOverflow() < flood.count - 14) {
            throw new IllegalStateException("The chosen keys are not where they were to meet: " + index.shape());
        }
    }

    @Benchmark
    public long getOther() {
        return find(next(keys));
    }

    /** Without chosen keys it looks up one of the others. */
    @Benchmark
    public long getChosen() {
        return find(nextChosen());
    }

    /** Removes an entry and puts it back, so that two operations are measured. */
    @Benchmark
    public long removeAndPutChosen() {
        long key = nextChosen();
        long location = find(key);
        index.removeFound();
        index.insert(hash(key), location);
        return location;
    }

    private long find(long key) {
        write(probe, key);
        return index.find(hash(key), probe, KEY_BYTES);
    }

    private long nextChosen() {
        return flood.count == 0 ? next(keys) : keys + next(flood.count);
    }

    /** A multiplicative generator: it is cheap, and its high bits are random enough to defeat the prefetchers. */
    private long next(int bound) {
        random = random * 0x5851_F42D_4C95_7F2DL + 1;
        return Math.unsignedMultiplyHigh(random, bound);
    }

    private long item(long location) {
        return items + location * ITEM_BYTES;
    }

    private long hash(long location) {
        return Memory.getLong(item(location) + KEY_BYTES);
    }

    private static void write(long address, long key) {
        Memory.putLong(address, 0x3A72_6573_752D_7976L);
        Memory.putLong(address + Long.BYTES, key);
    }
}
