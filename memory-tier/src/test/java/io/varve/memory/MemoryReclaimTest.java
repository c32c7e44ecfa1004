package io.varve.memory;

import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.Ticker;
import io.varve.memory.maintenance.MemoryReclaimer;
import io.varve.memory.report.CacheStats;
import io.varve.memory.shard.ShardSet;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests how much of the work at the memory limit a single write does, counted in readings of the clock. */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class MemoryReclaimTest {
    private static final int MIB = 1 << 20;
    private static final int SHARDS = 16;
    private static final int SEGMENT_BYTES = 32 << 10;
    private static final int VALUE_BYTES = 40;
    private static final int ADMITTED_BYTES = VALUE_BYTES + 64;

    private final CountingTicker ticker = new CountingTicker();

    private CacheFixture open(int maxMemoryBytes) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(maxMemoryBytes).withShards(SHARDS)
                .withSegmentSizeBytes(SEGMENT_BYTES).withMaxOpenSegments(2)
                .withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)
                .withHashSeed(7).withTicker(ticker)));
    }

    private static void write(CacheFixture fixture, int i) {
        assertThat(fixture.cache.admit(ADMITTED_BYTES)).as("admission of key %s", i).isTrue();
        fixture.set(0, CacheFixture.bytes("key" + i), new byte[VALUE_BYTES], Item.NEVER);
    }

    /**
     * Nothing is gained before a segment is empty: a write must not begin one in each shard before it ends the first.
     */
    @Test
    void aWriteEmptiesSegmentsOneByOne() {
        try (CacheFixture fixture = open(16 * MIB)) {
            long max = 0;
            for (int i = 0; i < 600_000; i++) {
                long before = ticker.readings.get();
                write(fixture, i);
                max = Math.max(max, ticker.readings.get() - before);
            }
            assertThat(fixture.cache.stats().evicted()).isGreaterThan(100_000);
            int itemsOfASegment = SEGMENT_BYTES / VALUE_BYTES;
            // A fifth of a segment is gained by emptying it: five for one, of which some were half done before.
            assertThat(max).as("looks at the clock, one in eight items").isLessThan(8L * itemsOfASegment / 8);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /**
     * A larger table can wait. The next writer cannot, and would have to reclaim all the memory that the table took.
     */
    @Test
    void aLargerTableKeepsTheReserveForWriters() {
        int limit = 16 * MIB;
        try (CacheFixture fixture = open(limit)) {
            long reserve = MemoryReclaimer.reserveBytes(SHARDS, SEGMENT_BYTES);
            long kept = MemoryReclaimer.keptBytes(SHARDS, SEGMENT_BYTES, limit);
            assertThat(kept).isGreaterThan(reserve);
            int doubled = 0;
            long before = fixture.cache.stats().indexBytes();
            for (int i = 0; i < 300_000; i++) {
                write(fixture, i);
                CacheStats stats = fixture.cache.stats();
                if (stats.indexBytes() > before + SEGMENT_BYTES) {
                    doubled++;
                    long left = limit - stats.chargedBytes();
                    assertThat(left).as("left beside a table of key %s", i)
                            .isGreaterThanOrEqualTo(kept - SEGMENT_BYTES);
                }
                before = stats.indexBytes();
            }
            assertThat(doubled).as("tables that doubled").isGreaterThan(2 * SHARDS);
            assertThat(fixture.cache.stats().evicted()).isPositive();
        }
    }

    /** Between two writes under its locks a script uses no item, so they may be evicted. */
    @Test
    void memoryIsReclaimedUnderLocks() {
        try (CacheFixture fixture = open(16 * MIB)) {
            ShardSet all = new ShardSet(SHARDS);
            ShardSet some = new ShardSet(SHARDS);
            for (int i = 0; i < SHARDS; i++) {
                all.add(i);
            }
            some.add(SHARDS / 2);
            int key = 0;
            for (ShardSet held : List.of(all, some)) {
                fixture.session.lock(held);
                try {
                    for (int i = 0; i < 400_000; i++) {
                        int bytes = i % 4000 == 0 ? MIB : VALUE_BYTES;
                        assertThat(fixture.cache.admitUnderLocks(bytes + 64L)).as("admission %s", key).isTrue();
                        fixture.set(0, CacheFixture.bytes("key" + key++), new byte[bytes], Item.NEVER);
                    }
                } finally {
                    fixture.session.unlock(held);
                }
                assertThat(fixture.cache.checkIntegrity()).isEmpty();
            }
            assertThat(fixture.cache.stats().evicted()).isGreaterThan(100_000);
            assertThat(fixture.cache.admitUnderLocks(16L * MIB)).isFalse();
        }
    }

    /** Two threads that hold shards, and need memory of each other's, do not wait for each other. */
    @Test
    void memoryIsReclaimedUnderLocks_byTwoThreads() throws Exception {
        AtomicBoolean ended = new AtomicBoolean();
        ShardSet even = new ShardSet(SHARDS);
        ShardSet odd = new ShardSet(SHARDS);
        for (int i = 0; i < SHARDS; i += 2) {
            even.add(i);
            odd.add(i + 1);
        }
        try (CacheFixture fixture = open(16 * MIB);
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            CacheSession other = fixture.cache.newSession();
            Future<?> end = threads.submit(() -> {
                while (!ended.get()) {
                    other.lock(odd);
                    fixture.cache.admitUnderLocks(SEGMENT_BYTES);
                    other.unlock(odd);
                }
            });
            try {
                for (int key = 0; key < 600_000; key++) {
                    if (key % 1000 == 0) {
                        fixture.session.lock(even);
                    }
                    byte[] name = CacheFixture.bytes("key" + key);
                    // A script writes only to shards that it holds, and waits for no others.
                    if (even.contains(fixture.bind(0, name).shard()) && fixture.cache.admitUnderLocks(ADMITTED_BYTES)) {
                        fixture.set(0, name, new byte[VALUE_BYTES], Item.NEVER);
                    }
                    if (key % 1000 == 999) {
                        fixture.session.unlock(even);
                    }
                }
            } finally {
                ended.set(true);
            }
            end.get();
            assertThat(fixture.cache.stats().evicted()).isGreaterThan(50_000);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** A clock by which a slice of work is over after two readings. */
    private static final class CountingTicker implements Ticker {
        private final AtomicLong readings = new AtomicLong();

        @Override
        public long wallMillis() {
            return 1_700_000_000_000L;
        }

        @Override
        public long nanoTime() {
            return readings.incrementAndGet() * 100_000;
        }
    }
}
