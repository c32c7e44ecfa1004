package io.varve.memory.collection;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.CollectionsFixture;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests several threads on the large collections of one cache during maintenance. */
final class CollectionsConcurrencyTest {
    private static final int THREADS = 3;
    private static final int OPERATIONS = TestBudget.ofInt("varve.concurrency.operations", 6_000, 200_000);

    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = {"NOEVICTION", "ALLKEYS_LRU", "ALLKEYS_RANDOM"})
    void everyThreadFindsItsOwnElements(EvictionPolicy policy) throws Exception {
        try (Cache cache = Cache.open(CacheConfig.defaults(policy.evicts() ? 2 << 20 : 64 << 20).withShards(4)
                .withSegmentSizeBytes(16 << 10).withMaxOpenSegments(2).withExpireBaseMillis(20).withExpireBuckets(10)
                .withExpireCycleMillis(5).withEvictionPolicy(policy))) {
            AtomicBoolean done = new AtomicBoolean();
            try (ExecutorService executor = Executors.newFixedThreadPool(THREADS + 1)) {
                Future<Void> maintenance = executor.submit(() -> {
                    while (!done.get()) {
                        cache.maintain();
                        Thread.onSpinWait();
                    }
                    return null;
                });
                try {
                    List<Callable<Void>> workers = new ArrayList<>();
                    for (int t = 0; t < THREADS; t++) {
                        int thread = t;
                        workers.add(() -> {
                            work(cache, thread, policy.evicts());
                            return null;
                        });
                    }
                    for (Future<Void> worker : executor.invokeAll(workers)) {
                        worker.get();
                    }
                } finally {
                    done.set(true);
                }
                maintenance.get();
            }
            assertThat(cache.checkIntegrity()).isEmpty();
        }
    }

    /** Each thread has its own keys, so it knows their values; under eviction a key may be absent, never wrong. */
    private static void work(Cache cache, int thread, boolean mayVanish) {
        SplittableRandom random = new SplittableRandom(thread);
        Map<String, Map<String, String>> model = new TreeMap<>();
        // Closing it would close the cache, which is everybody's.
        CollectionsFixture fixture = new CollectionsFixture(cache);
        for (int i = 0; i < OPERATIONS; i++) {
            String name = "t" + thread + "-" + random.nextInt(5);
            if (!cache.admit(5000)) {
                fixture.plain.delete(0, CacheFixture.bytes(name));
                model.remove(name);
                continue;
            }
            try {
                write(fixture, random, name, model, mayVanish);
            } catch (CacheFullException full) {
                // Nothing has changed, and the model has not.
                continue;
            }
            if (i % 500 == 0) {
                Map<String, String> found = fixture.hash(name);
                if (found != null || !mayVanish) {
                    assertThat(found).as(name).isEqualTo(model.get(name));
                }
            }
        }
        model.keySet().forEach(name -> fixture.plain.delete(0, CacheFixture.bytes(name)));
    }

    private static void write(CollectionsFixture fixture, SplittableRandom random, String name,
            Map<String, Map<String, String>> model, boolean mayVanish) {
        int what = random.nextInt(200);
        if (what == 0) {
            fixture.plain.delete(0, CacheFixture.bytes(name));
            model.remove(name);
            return;
        }
        if (what == 1) {
            String to = "t" + name.substring(1) + "-copy";
            if (fixture.transfer(name, to, 0, random.nextBoolean())) {
                assertThat(fixture.plain.delete(0, CacheFixture.bytes(to)) || mayVanish).isTrue();
                if (fixture.hash(name) == null) {
                    model.remove(name);
                }
            }
            return;
        }
        String field = "f" + random.nextInt(400);
        String value = "v".repeat(random.nextInt(60));
        Boolean there = fixture.with(name, new HashTree(), tree -> {
            fixture.put(tree, field, value);
            return true;
        });
        if (there == null) {
            assertThat(model.containsKey(name) && !mayVanish).as(name).isFalse();
            HashTree tree = new HashTree();
            fixture.make(name, tree, Item.NEVER, () -> fixture.put(tree, field, value));
            model.put(name, new TreeMap<>());
        }
        Objects.requireNonNull(model.get(name)).put(field, value);
    }
}
