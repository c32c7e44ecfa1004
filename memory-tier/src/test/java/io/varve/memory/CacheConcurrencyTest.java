package io.varve.memory;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.report.PenaltyReport;
import io.varve.memory.shard.ShardSet;
import io.varve.memory.testing.CacheFixture;
import io.varve.testing.TestBudget;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests several threads on one cache during maintenance: acknowledged writes are present, two shards change atomically,
 * and the structures stay sound.
 */
final class CacheConcurrencyTest {
    private static final int THREADS = 3;
    /** Names in several shards. */
    private static final int PLACES = 8;
    private static final int OPERATIONS = TestBudget.ofInt("varve.concurrency.operations", 20_000, 1_000_000);

    private static CacheConfig config(EvictionPolicy policy, long maxMemoryBytes) {
        return CacheConfig.defaults(maxMemoryBytes).withShards(4).withSegmentSizeBytes(8192).withMaxOpenSegments(3)
                .withExpireBaseMillis(20).withExpireBuckets(10).withExpireCycleMillis(5).withEvictionPolicy(policy)
                .withCurves(new CurveSettings(true, CurveSettings.MIN_WINDOW));
    }

    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = {"NOEVICTION", "ALLKEYS_LRU", "ALLKEYS_PENALTY"})
    void acknowledgedWritesAreVisible(EvictionPolicy policy) throws Exception {
        try (Cache cache = Cache.open(config(policy, policy.evicts() ? 2 << 20 : 64 << 20))) {
            List<Callable<Void>> workers = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                workers.add(() -> {
                    ownKeys(cache, thread, policy.evicts());
                    return null;
                });
            }
            if (policy == EvictionPolicy.ALLKEYS_PENALTY) {
                workers.add(() -> {
                    switchTracking(cache);
                    return null;
                });
            }
            runBesideMaintenance(cache, workers);
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    /** Switches penalty tracking and memory partitioning on and off while other threads read the reports. */
    private static void switchTracking(Cache cache) {
        Buffers buffers = new Buffers(cache);
        try (buffers) {
            for (int i = 0; i < OPERATIONS; i++) {
                if (i % 3000 == 2999) {
                    CacheConfig config = cache.config();
                    cache.reconfigure(config.withEvictionPolicy(config.evictionPolicy() == EvictionPolicy.ALLKEYS_LRU
                            ? EvictionPolicy.ALLKEYS_PENALTY
                            : EvictionPolicy.ALLKEYS_LRU));
                }
                PenaltyReport report = i % 100 == 0 ? cache.penalties() : null;
                assertThat(report == null || report.classes().stream().allMatch(of -> of.bytes() >= 0)).isTrue();
                Key key = buffers.bind("hinted" + i % 700);
                buffers.session.writesInto(i % 17 - 1);
                if (buffers.get(key) == null && cache.admit(200)) {
                    buffers.set(key, new byte[100], Item.NEVER);
                }
            }
        }
    }

    /** Each thread has its own keys, so it knows their values; under eviction a key may be absent, never wrong. */
    private static void ownKeys(Cache cache, int thread, boolean mayVanish) {
        SplittableRandom random = new SplittableRandom(thread);
        Map<Integer, byte[]> model = new HashMap<>();
        Buffers buffers = new Buffers(cache);
        try (buffers) {
            for (int i = 0; i < OPERATIONS; i++) {
                int id = random.nextInt(500);
                Key key = buffers.bind("t" + thread + "-" + id);
                switch (random.nextInt(4)) {
                    case 0, 1 -> {
                        byte[] value = new byte[random.nextInt(200)];
                        random.nextBytes(value);
                        if (cache.admit(value.length + 100L)) {
                            buffers.set(key, value, random.nextInt(5) == 0
                                    ? System.currentTimeMillis() + 3_600_000
                                    : Item.NEVER);
                            model.put(id, value);
                        }
                    }
                    case 2 -> {
                        byte[] expected = model.get(id);
                        byte[] got = buffers.get(key);
                        if (got != null || !mayVanish) {
                            assertThat(got).as("thread %s key %s", thread, id).isEqualTo(expected);
                        }
                    }
                    default -> {
                        boolean there = buffers.delete(key);
                        assertThat(there && !model.containsKey(id)).isFalse();
                        assertThat(!there && model.containsKey(id) && !mayVanish).isFalse();
                        model.remove(id);
                    }
                }
            }
        }
    }

    @Test
    void twoShardsChangeTogether() throws Exception {
        try (Cache cache = Cache.open(config(EvictionPolicy.NOEVICTION, 32 << 20))) {
            try (Buffers buffers = new Buffers(cache)) {
                buffers.set(buffers.bind("left"), new byte[] {50}, Item.NEVER);
                buffers.set(buffers.bind("right"), new byte[] {50}, Item.NEVER);
            }
            List<Callable<Void>> workers = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                int thread = t;
                workers.add(() -> {
                    transfer(cache, thread);
                    return null;
                });
            }
            runBesideMaintenance(cache, workers);
        }
    }

    /** Moves an amount from one key to another under both locks: the sum is the same for everyone at all times. */
    private static void transfer(Cache cache, int thread) {
        SplittableRandom random = new SplittableRandom(thread);
        try (Buffers left = new Buffers(cache); Buffers right = new Buffers(cache)) {
            ShardSet shards = new ShardSet(cache.shardCount());
            for (int i = 0; i < OPERATIONS; i++) {
                Key from = left.bind("left");
                Key to = right.bind("right");
                shards.clear();
                shards.add(from.shard());
                shards.add(to.shard());
                left.session.lock(shards);
                try {
                    byte a = left.byteOf(from);
                    byte b = right.byteOf(to);
                    assertThat(a + b).isEqualTo(100);
                    byte amount = (byte) Math.min(a, random.nextInt(10));
                    left.putByte(from, (byte) (a - amount));
                    right.putByte(to, (byte) (b + amount));
                } finally {
                    left.session.unlock(shards);
                }
            }
        }
    }

    /** Flushes come faster than maintenance reclaims, so that the flushing thread helps it. */
    @Test
    void flushedItemsStayInvisibleWhileTwoThreadsReclaim() throws Exception {
        try (Cache cache = Cache.open(config(EvictionPolicy.NOEVICTION, 32 << 20))) {
            runBesideMaintenance(cache, List.of(() -> {
                flushOverAndOver(cache);
                return null;
            }));
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    private static void flushOverAndOver(Cache cache) {
        try (Buffers buffers = new Buffers(cache)) {
            for (int i = 0; i < OPERATIONS; i++) {
                Key key = buffers.bind("k" + i % 7);
                assertThat(buffers.get(key)).isNull();
                buffers.set(key, new byte[10], Item.NEVER);
                cache.flush(0);
                assertThat(cache.size(0)).isZero();
            }
        }
    }

    /** A key that was there all the time is flushed, wherever it is just being moved to. */
    @Test
    void flushAllIncludesMovingKeys() throws Exception {
        try (Cache cache = Cache.open(config(EvictionPolicy.NOEVICTION, 32 << 20))) {
            AtomicBoolean over = new AtomicBoolean();
            runBesideMaintenance(cache, List.of(() -> {
                try {
                    flushWhatMoves(cache);
                } finally {
                    over.set(true);
                }
                return null;
            }, () -> {
                move(cache, over);
                return null;
            }));
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    private static void flushWhatMoves(Cache cache) {
        try (Buffers buffers = new Buffers(cache)) {
            ShardSet shards = new ShardSet(cache.shardCount());
            for (int place = 0; place < PLACES; place++) {
                shards.add(buffers.bind("place " + place).shard());
            }
            for (int round = 0; round < OPERATIONS / 3; round++) {
                buffers.set(buffers.bind("place 0"), new byte[] {1}, Item.NEVER);
                cache.flushAll();
                buffers.session.lock(shards);
                try {
                    for (int place = 0; place < PLACES; place++) {
                        assertThat(buffers.session.find(buffers.bind("place " + place), buffers.item))
                                .as("place %s after flush %s", place, round).isFalse();
                    }
                } finally {
                    buffers.session.unlock(shards);
                }
            }
        }
    }

    /** Renames the key from place to place; makes none. */
    private static void move(Cache cache, AtomicBoolean over) {
        try (Buffers from = new Buffers(cache); Buffers to = new Buffers(cache)) {
            ShardSet shards = new ShardSet(cache.shardCount());
            for (int place = 0; !over.get(); place = (place + 1) % PLACES) {
                Key here = from.bind("place " + place);
                Key there = to.bind("place " + (place + 1) % PLACES);
                shards.clear();
                shards.add(here.shard());
                shards.add(there.shard());
                from.session.lock(shards);
                try {
                    if (from.session.delete(here)) {
                        to.putByte(there, (byte) 1);
                    }
                } finally {
                    from.session.unlock(shards);
                }
            }
        }
    }

    private static void runBesideMaintenance(Cache cache, List<Callable<Void>> workers) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        ExecutorService pool = Executors.newCachedThreadPool();
        try {
            Future<?> maintenance = pool.submit(() -> {
                while (!stop.get()) {
                    cache.maintain();
                    Thread.onSpinWait();
                }
            });
            List<Future<Void>> results = new ArrayList<>();
            for (Callable<Void> worker : workers) {
                results.add(pool.submit(worker));
            }
            try {
                for (Future<Void> result : results) {
                    result.get();
                }
            } finally {
                stop.set(true);
            }
            maintenance.get();
        } finally {
            pool.shutdownNow();
        }
    }

    /** A session with native buffers for a key and a value. Confined to one thread. */
    private static final class Buffers implements AutoCloseable {
        private static final int BYTES = 1024;

        private final CacheSession session;
        private final Key key = new Key();
        private final Item item = new Item();
        private final Arena arena = Arena.ofConfined();
        private final long name = arena.allocate(BYTES).address();
        private final long value = arena.allocate(BYTES).address();

        Buffers(Cache cache) {
            session = cache.newSession();
            LiveRanges.add(name, BYTES);
            LiveRanges.add(value, BYTES);
        }

        Key bind(String text) {
            byte[] bytes = CacheFixture.bytes(text);
            Memory.copy(bytes, 0, name, bytes.length);
            session.now(System.currentTimeMillis());
            session.bind(key, 0, name, bytes.length);
            return key;
        }

        void set(Key key, byte[] bytes, long expireAtMillis) {
            Memory.copy(bytes, 0, value, bytes.length);
            session.lock(key);
            try {
                session.set(key, ItemType.STRING, 0, value, bytes.length, expireAtMillis);
            } finally {
                session.unlock(key);
            }
        }

        byte @Nullable [] get(Key key) {
            session.lock(key);
            try {
                return session.find(key, item) ? Memory.toArray(item.valueAddress(), item.valueLength()) : null;
            } finally {
                session.unlock(key);
            }
        }

        boolean delete(Key key) {
            session.lock(key);
            try {
                return session.delete(key);
            } finally {
                session.unlock(key);
            }
        }

        byte byteOf(Key key) {
            assertThat(session.find(key, item)).isTrue();
            return Memory.getByte(item.valueAddress());
        }

        void putByte(Key key, byte content) {
            session.put(key, item, ItemType.STRING, 0, 1, 1, Item.NEVER);
            Memory.putByte(item.valueAddress(), content);
            session.changed(key, Change.SET);
        }

        @Override
        public void close() {
            LiveRanges.remove(name);
            LiveRanges.remove(value);
            arena.close();
        }
    }
}
