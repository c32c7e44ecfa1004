package io.varve.memory.collection;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

import io.varve.memory.CacheSession;
import io.varve.memory.InMemoryCache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.RefusingRegions;
import io.varve.memory.offheap.Regions;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.CollectionsFixture;
import io.varve.memory.testing.ManualTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random operations on large hashes and plain values under the same keys, against maps, on a store of small segments
 * with little memory. The seed is in every failure's message.
 */
final class CollectionsModelTest {
    private static final int OPERATIONS = TestBudget.ofInt("varve.model.operations", 15_000, 150_000);
    private static final int KEYS = 12;
    private static final int FIELDS = 150;
    private static final int MAX_PINNED_BYTES = 128 << 10;

    private final ManualTicker ticker = new ManualTicker();
    /** A hash's fields; a plain value's bytes under the empty field. */
    private final Map<String, Map<String, String>> model = new HashMap<>();
    private final Map<String, Long> times = new HashMap<>();
    private final Set<String> pinned = new HashSet<>();
    private boolean healed;

    @ParameterizedTest
    @CsvSource({"WHEEL, NOEVICTION, 1", "BUCKET, NOEVICTION, 2", "WHEEL, ALLKEYS_LRU, 3", "WHEEL, ALLKEYS_RANDOM, 4",
            "RANDOM, ALLKEYS_LFU, 5", "WHEEL, VOLATILE_TTL, 6", "WHEEL, VOLATILE_RANDOM, 7"})
    void behavesLikeMaps(ExpireAlgorithm algorithm, EvictionPolicy policy, long seed) {
        run(algorithm, policy, seed, new Regions());
    }

    /** The system has memory and has none, in turns of random length. */
    @ParameterizedTest
    @CsvSource({"WHEEL, NOEVICTION, 21", "WHEEL, ALLKEYS_LRU, 22"})
    void systemRefusals_loseNothing(ExpireAlgorithm algorithm, EvictionPolicy policy, long seed) {
        SplittableRandom random = new SplittableRandom(-seed);
        long[] requested = {0};
        long[] next = {20};
        boolean[] refuses = {false};
        run(algorithm, policy, seed, RefusingRegions.of(_ -> {
            if (++requested[0] >= next[0]) {
                next[0] = requested[0] + random.nextInt(refuses[0] ? 10 : 100);
                refuses[0] = !refuses[0];
            }
            return refuses[0] && !healed;
        }));
    }

    private void run(ExpireAlgorithm algorithm, EvictionPolicy policy, long seed, Regions regions) {
        CacheConfig config = CacheConfig.defaults(policy.evicts() ? 1 << 20 : 2 << 20).withShards(2)
                .withSegmentSizeBytes(seed % 2 == 0 ? 4096 : 16384).withMaxOpenSegments(2).withEvictionPolicy(policy)
                .withExpireAlgorithm(algorithm).withExpireBaseMillis(100).withExpireBuckets(7).withHashSeed(seed)
                .withTicker(ticker).withCurves(new CurveSettings(seed % 2 == 0, CurveSettings.MIN_WINDOW))
                .withPenalties(new PenaltySettings(true, PenaltyRanges.MAX_CLASSES, 0));
        SplittableRandom random = new SplittableRandom(seed);
        try (CollectionsFixture fixture = new CollectionsFixture(InMemoryCache.open(config, regions))) {
            fixture.cache.subscribe((change, shard, sequence, database, keyAddress, keyLength) -> {
                if (change == Change.EVICTED && database >= 0) {
                    String name = new String(Memory.toArray(keyAddress, keyLength), UTF_8);
                    assertThat(pinned).as("seed " + seed).doesNotContain(name);
                    forget(name);
                }
            });
            for (int i = 0; i < OPERATIONS; i++) {
                if (i % 20 == 0) {
                    fixture.session.writesInto(random.nextInt(PenaltyRanges.MAX_CLASSES + 1) - 1);
                }
                step(fixture, random);
                if (i % 300 == 0) {
                    checkAll(fixture, "seed " + seed + " operation " + i);
                }
            }
            healed = true;
            checkAll(fixture, "seed " + seed + " end");
            fixture.cache.flushAll();
            fixture.plain.maintainFully();
            assertThat(fixture.cache.checkIntegrity()).as("seed " + seed).isEmpty();
            assertThat(fixture.cache.stats().liveBytes()).as("seed " + seed).isZero();
        }
    }

    private void forget(String name) {
        model.remove(name);
        times.remove(name);
    }

    /** The key is deleted: its pin ends. */
    private void delete(String name) {
        forget(name);
        pinned.remove(name);
    }

    private void step(CollectionsFixture fixture, SplittableRandom random) {
        String name = "key" + random.nextInt(KEYS);
        expireModel();
        if (!fixture.cache.admit(3000)) {
            fixture.plain.delete(0, CacheFixture.bytes(name));
            delete(name);
            return;
        }
        expireModel();
        try {
            write(fixture, random, name);
        } catch (CacheFullException full) {
            // The model is written to after the cache: it is as it was.
            return;
        }
    }

    private void expireModel() {
        times.entrySet().removeIf(each -> {
            boolean past = ticker.wallMillis() > each.getValue();
            if (past) {
                model.remove(each.getKey());
                pinned.remove(each.getKey());
            }
            return past;
        });
    }

    private void write(CollectionsFixture fixture, SplittableRandom random, String name) {
        Map<String, String> there = model.get(name);
        boolean isHash = there != null && !there.containsKey("");
        switch (random.nextInt(30)) {
            case 0 -> {
                assertThat(fixture.plain.delete(0, CacheFixture.bytes(name))).isEqualTo(there != null);
                delete(name);
            }
            case 1 -> {
                byte[] value = new byte[random.nextInt(1500)];
                fixture.plain.set(0, CacheFixture.bytes(name), value, Item.NEVER);
                forget(name);
                model.put(name, Map.of("", "" + value.length));
            }
            case 2 -> {
                long expireAt = ticker.wallMillis() + random.nextInt(3000);
                assertThat(fixture.plain.expire(0, CacheFixture.bytes(name), expireAt)).isEqualTo(there != null);
                if (there != null) {
                    times.put(name, expireAt);
                }
            }
            case 3 -> {
                String to = "key" + random.nextInt(KEYS);
                boolean move = random.nextBoolean();
                if (!to.equals(name)) {
                    assertThat(fixture.transfer(name, to, 0, move)).isEqualTo(isHash);
                }
                if (isHash && there != null && !to.equals(name)) {
                    transferModel(name, to, there, move);
                }
            }
            case 4, 5 -> {
                ticker.advanceMillis(random.nextInt(100));
                fixture.cache.maintain();
            }
            case 6 -> {
                if (random.nextInt(20) == 0) {
                    fixture.cache.flush(0);
                    model.clear();
                    times.clear();
                    pinned.clear();
                }
            }
            case 7 -> {
                if (there != null) {
                    pin(fixture, random, name);
                }
            }
            default -> {
                if (isHash && there != null) {
                    writeHash(fixture, random, name, there);
                } else {
                    String value = value(random);
                    HashTree tree = new HashTree();
                    fixture.make(name, tree, CacheSession.KEEP, () -> fixture.put(tree, "f", value));
                    Map<String, String> fresh = new TreeMap<>();
                    fresh.put("f", value);
                    model.put(name, fresh);
                }
            }
        }
    }

    private void pin(CollectionsFixture fixture, SplittableRandom random, String name) {
        fixture.plain.withItem(0, CacheFixture.bytes(name), item -> {
            assertThat(fixture.session.isPinned(item)).isEqualTo(pinned.contains(name));
            if (random.nextInt(3) == 0) {
                fixture.session.unpinItem(item);
                pinned.remove(name);
            } else if (fixture.session.pinItem(item, MAX_PINNED_BYTES)) {
                pinned.add(name);
            }
        });
    }

    private void transferModel(String from, String to, Map<String, String> there, boolean move) {
        Long time = times.get(from);
        forget(to);
        model.put(to, new TreeMap<>(there));
        if (time != null) {
            times.put(to, time);
        }
        if (move) {
            delete(from);
        }
    }

    private static String value(SplittableRandom random) {
        return "v".repeat(random.nextInt(random.nextInt(50) == 0 ? 2500 : 40));
    }

    private void writeHash(CollectionsFixture fixture, SplittableRandom random, String name,
            Map<String, String> there) {
        fixture.with(name, new HashTree(), tree -> {
            String field = "f" + random.nextInt(FIELDS);
            if (random.nextInt(4) == 0) {
                assertThat(fixture.remove(tree, field)).isEqualTo(there.remove(field) != null);
                return true;
            }
            String value = value(random);
            assertThat(fixture.put(tree, field, value)).isEqualTo(there.put(field, value) == null);
            return true;
        });
        if (there.isEmpty()) {
            delete(name);
        }
    }

    private void checkAll(CollectionsFixture fixture, String when) {
        expireModel();
        assertThat(fixture.cache.checkIntegrity()).as(when).isEmpty();
        // Those that have expired count until they are removed.
        assertThat(fixture.cache.stats().pinnedItems()).as(when).isGreaterThanOrEqualTo(pinned.size());
        for (int i = 0; i < KEYS; i++) {
            String name = "key" + i;
            Map<String, String> there = model.get(name);
            if (there == null) {
                assertThat(fixture.plain.get(0, CacheFixture.bytes(name))).as(when + " " + name).isNull();
            } else if (there.containsKey("")) {
                assertThat(fixture.plain.get(0, CacheFixture.bytes(name))).as(when + " " + name)
                        .hasSize(Integer.parseInt(there.get("")));
            } else {
                assertThat(fixture.hash(name)).as(when + " " + name).isEqualTo(there);
            }
        }
    }
}
