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
 * How long do a hit, a miss, a put and a removal take in the index alone, including the hash of the key? Confined to
 * the thread that measures.
 *
 * <p>Keys are 16 bytes, visited in random order; an item here is its key alone, compared in place. The benchmark cannot
 * see the cost of a real item's header and value, of the lock, or of overlapping cache misses in a batch. A put is
 * measured together with the removal of the previously put key, so that the index keeps its size: {@code putAndRemove}
 * is both.
 *
 * <p>Run: {@code ./varve jmh IndexBenchmark}. {@code ./varve jmh --probes} prints the distribution of entries, and so
 * the number of lines that a lookup reads.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class IndexBenchmark {
    private static final int KEY_BYTES = 16;
    private static final long ABSENT = 1L << 40;

    /** The comparison of a bucket's tags. Each run uses one, as a server does. */
    public enum Scanner {
        VECTOR {
            @Override
            TagScanner make() {
                TagScanner best = TagScanners.best();
                if (best instanceof ScalarTagScanner) {
                    throw new IllegalStateException("The Vector API's module is not there");
                }
                return best;
            }
        },
        SCALAR {
            @Override
            TagScanner make() {
                return new ScalarTagScanner();
            }
        };

        abstract TagScanner make();
    }

    @Param
    public Scanner scanner = Scanner.VECTOR;

    /** Entries in the index: within the caches of a core, and well beyond them. */
    @Param({"10000", "1000000", "10000000"})
    public int keys;

    private final Regions regions = new Regions();
    private final KeyHash keyHash = new KeyHash(11);
    private long items;
    private long itemBytes;
    private long probe;
    private Index index;
    private long random = 1;
    private long removed;

    /** Items are keys in a row; a location is a position in it. */
    private final class Keys implements KeyVerifier {
        @Override
        public boolean matches(long location, long keyAddress, int keyLength) {
            return Memory.equal(items + location * KEY_BYTES, keyAddress, keyLength);
        }

        @Override
        public long hashOf(long location) {
            return keyHash.hash(items + location * KEY_BYTES, KEY_BYTES);
        }

        @Override
        public int secondHash(long keyAddress, int keyLength) {
            return keyHash.second(keyAddress, keyLength);
        }

        @Override
        public int secondHashOf(long location) {
            return keyHash.second(items + location * KEY_BYTES, KEY_BYTES);
        }

        @Override
        public long touch(long location) {
            return Memory.getByte(items + location * KEY_BYTES);
        }
    }

    @Setup(Level.Trial)
    public void fill() {
        itemBytes = Math.max(Regions.MIN_BYTES, Long.highestOneBit((long) keys * KEY_BYTES) << 1);
        items = regions.allocate(itemBytes);
        probe = regions.allocate(Regions.MIN_BYTES);
        index = new Index(new Keys(), scanner.make(), regions, new MemoryBudget(1L << 32), 0.87);
        for (long key = 0; key < keys; key++) {
            write(items + key * KEY_BYTES, key);
            index.insert(keyHash.hash(items + key * KEY_BYTES, KEY_BYTES), key);
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

    /** Proves that hits are hits, misses are misses, and the index holds the right entries. */
    private void provePremises() {
        SplittableRandom sample = new SplittableRandom(5);
        for (int i = 0; i < 1_000; i++) {
            long key = sample.nextInt(keys);
            if (find(key) != key || find(key + ABSENT) != Index.NONE) {
                throw new IllegalStateException("Key " + key + " is not found, or its absent twin is");
            }
        }
        if (index.size() != keys || index.rehashing()) {
            throw new IllegalStateException("The index holds " + index.size() + " entries instead of " + keys);
        }
    }

    @Benchmark
    public long getHit() {
        return find(nextKey());
    }

    @Benchmark
    public long getMiss() {
        return find(nextKey() + ABSENT);
    }

    /** The work of an overwrite: finds the entry and puts a location into its slot. */
    @Benchmark
    public long replace() {
        long location = find(nextKey());
        index.replaceFound(location);
        return location;
    }

    /** Removes an entry and puts it back, so that two operations are measured. */
    @Benchmark
    public long putAndRemove() {
        long key = nextKey();
        write(probe, key);
        long hash = keyHash.hash(probe, KEY_BYTES);
        long location = index.find(hash, probe, KEY_BYTES);
        index.removeFound();
        removed += location;
        index.insert(hash, location);
        return removed;
    }

    /** The cost of the key's hash and of choosing a key, to be subtracted from the others. */
    @Benchmark
    public long hashAlone() {
        write(probe, nextKey());
        return keyHash.hash(probe, KEY_BYTES);
    }

    private long find(long key) {
        write(probe, key);
        return index.find(keyHash.hash(probe, KEY_BYTES), probe, KEY_BYTES);
    }

    /** A multiplicative generator: it is cheap, and its high bits are random enough to defeat the prefetchers. */
    private long nextKey() {
        random = random * 0x5851_F42D_4C95_7F2DL + 1;
        return Math.unsignedMultiplyHigh(random, keys);
    }

    private static void write(long address, long key) {
        Memory.putLong(address, 0x3A72_6573_752D_7976L);
        Memory.putLong(address + Long.BYTES, key);
    }
}
