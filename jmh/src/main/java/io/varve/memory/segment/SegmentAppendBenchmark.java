package io.varve.memory.segment;

import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.offheap.Memory;
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
 * How much does it cost to append an item to a segment while the oldest dies, and to locate key and value of an
 * existing one? Confined to the thread that measures.
 *
 * <p>Items die in the order in which they were written, so every segment is freed whole and nothing is ever cleaned.
 * The benchmark cannot see the cost of cleaning, nor that of the index, the lock and the expiry around it.
 *
 * <p>Run: {@code ./varve jmh SegmentAppendBenchmark}
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = {"--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED"})
public class SegmentAppendBenchmark {
    private static final int ITEMS = 1 << 15;
    private static final int SEGMENT_BYTES = 1 << 20;
    private static final int KEY_BYTES = 16;
    private static final long NOW = 1_700_000_000_000L;
    private static final long TTL_MILLIS = 60_000;

    /** Bytes of a value. */
    @Param({"100", "1000"})
    int valueBytes;

    private final Regions regions = new Regions();
    private final long[] locations = new long[ITEMS];
    private final int[] order = new int[ITEMS];
    private SegmentPool pool;
    private Segments segments;
    private long source;
    private int next;

    @Setup
    public void fill() {
        long poolBytes = 4L * SEGMENT_BYTES + 2L * ITEMS * ItemLayout.size(KEY_BYTES, valueBytes, true);
        MemoryBudget budget = new MemoryBudget(poolBytes);
        pool = new SegmentPool(regions, budget, poolBytes, SEGMENT_BYTES);
        segments = new Segments(pool, 4, 1);
        source = regions.allocate(Long.highestOneBit(Math.max(Regions.MIN_BYTES, 2L * valueBytes)));
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < ITEMS; i++) {
            locations[i] = write(false);
            order[i] = random.nextInt(ITEMS);
        }
        next = 0;
        prove();
    }

    @TearDown
    public void close() {
        prove();
        pool.close();
    }

    /** Proves that the number of live items is right, and so is the accounting. */
    private void prove() {
        segments.checkIntegrity(failure -> {
            throw new IllegalStateException(failure);
        });
        if (segments.liveItems() != ITEMS) {
            throw new IllegalStateException("Not " + ITEMS + " items live, but " + segments.liveItems());
        }
    }

    /** Appends an item without an expiry time, while the oldest dies. */
    @Benchmark
    public long append() {
        return replaceOldest(false);
    }

    /** Appends an item with an expiry time, while the oldest dies. */
    @Benchmark
    public long appendWithTtl() {
        return replaceOldest(true);
    }

    /** Locates key and value of a random item: a GET's accesses to the header, including the cache miss. */
    @Benchmark
    public long locate() {
        long address = pool.address(locations[order[next]]);
        next = next + 1 & ITEMS - 1;
        return ItemLayout.keyAddress(address) + ItemLayout.keyLength(address) + ItemLayout.valueAddress(address)
                + ItemLayout.valueLength(address);
    }

    private long replaceOldest(boolean expires) {
        int place = next;
        next = next + 1 & ITEMS - 1;
        long location = write(expires);
        segments.itemRemoved(locations[place]);
        locations[place] = location;
        return location;
    }

    private long write(boolean expires) {
        int size = ItemLayout.size(KEY_BYTES, valueBytes, expires);
        long location = segments.append(size, Segments.lifetimeClass(expires ? TTL_MILLIS : Item.NEVER), NOW);
        long address = pool.address(location);
        ItemLayout.write(address, ItemType.STRING, 0, 0, KEY_BYTES, valueBytes, valueBytes, expires, 0);
        if (expires) {
            ItemLayout.expireAtMillis(address, NOW + TTL_MILLIS);
        }
        Memory.copy(source, ItemLayout.keyAddress(address), KEY_BYTES);
        Memory.copy(source, ItemLayout.valueAddress(address), valueBytes);
        segments.itemWritten(location, size, expires ? NOW + TTL_MILLIS : Item.NEVER, NOW);
        return location;
    }
}
