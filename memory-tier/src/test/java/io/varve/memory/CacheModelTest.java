package io.varve.memory;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.CurveSettings;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.KeySlots;
import io.varve.memory.item.ValueRun;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.offheap.RefusingRegions;
import io.varve.memory.offheap.Regions;
import io.varve.memory.segment.CleanerPolicy;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random operations against a plain HashMap, on a store of small segments, so that sealing, cleaning, rehashing,
 * expiring, evicting and wrapping happen all the time. The seed is in every failure's message.
 */
final class CacheModelTest {
    private static final int OPERATIONS = TestBudget.ofInt("varve.model.operations", 15_000, 150_000);
    private static final int FEW_OPERATIONS = 1_000;
    private static final int DATABASES = 3;
    private static final int MAX_PINNED_BYTES = 128 << 10;

    // Compared by its bytes, never by equals.
    @SuppressWarnings("ArrayRecordComponent")
    private record Value(byte[] bytes, long expireAtMillis, boolean isPinned) {}

    private record Name(int database, String key) {}

    private final ManualTicker ticker = new ManualTicker();
    private final Map<Name, Value> model = new HashMap<>();
    private boolean reconfigures;
    private boolean evictionAllowed;
    /** Whether the system has memory for everybody again. */
    private boolean healed;

    @ParameterizedTest
    @CsvSource({"WHEEL, NOEVICTION, 1", "WHEEL, NOEVICTION, 2", "BUCKET, NOEVICTION, 3", "RANDOM, NOEVICTION, 4",
            "WHEEL, ALLKEYS_RANDOM, 5", "WHEEL, ALLKEYS_LRU, 6", "BUCKET, ALLKEYS_LFU, 7", "WHEEL, VOLATILE_TTL, 8",
            "RANDOM, VOLATILE_LRU, 9", "WHEEL, VOLATILE_RANDOM, 10", "BUCKET, VOLATILE_LFU, 11",
            "WHEEL, ALLKEYS_PENALTY, 12", "BUCKET, ALLKEYS_PENALTY, 13", "WHEEL, ALLKEYS_HYPERBOLIC, 15"})
    void behavesLikeAMap(ExpireAlgorithm algorithm, EvictionPolicy policy, long seed) {
        run(config(algorithm, policy, seed), new Regions(), OPERATIONS);
    }

    /** Keys are in the shard of their slot, which is not that of their hash. */
    @ParameterizedTest
    @CsvSource({"WHEEL, NOEVICTION, 41", "WHEEL, ALLKEYS_LRU, 42", "WHEEL, ALLKEYS_PENALTY, 45"})
    void withSlots_behavesLikeAMap(ExpireAlgorithm algorithm, EvictionPolicy policy, long seed) {
        KeySlots slots = (address, length) -> Memory.getByte(address + length - 1) & 0xFF;
        run(config(algorithm, policy, seed).withKeySlots(slots), new Regions(), OPERATIONS);
    }

    /** The system has memory and has none, in turns of random length. */
    @ParameterizedTest
    @CsvSource({"WHEEL, NOEVICTION, 21", "WHEEL, ALLKEYS_LRU, 22", "BUCKET, NOEVICTION, 23", "RANDOM, NOEVICTION, 24",
            "WHEEL, NOEVICTION, 25", "WHEEL, VOLATILE_TTL, 26", "WHEEL, ALLKEYS_RANDOM, 27", "BUCKET, ALLKEYS_LFU, 28",
            "WHEEL, ALLKEYS_PENALTY, 29", "WHEEL, ALLKEYS_PENALTY, 30"})
    void systemRefusals_loseNothing(ExpireAlgorithm algorithm, EvictionPolicy policy, long seed) {
        SplittableRandom random = new SplittableRandom(-seed);
        long[] requested = {0};
        long[] next = {20};
        boolean[] refuses = {false};
        run(config(algorithm, policy, seed), RefusingRegions.of(_ -> {
            if (++requested[0] >= next[0]) {
                next[0] = requested[0] + random.nextInt(refuses[0] ? 10 : 300);
                refuses[0] = !refuses[0];
            }
            return refuses[0] && !healed;
        }), OPERATIONS);
    }

    /** At the n-th request for memory the system begins to refuse, for a number of requests. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 100})
    void refusalsFromAnyPoint_loseNothing(int refusals) {
        long[] requested = {0};
        run(config(ExpireAlgorithm.WHEEL, EvictionPolicy.NOEVICTION, 31), RefusingRegions.of(_ -> {
            requested[0]++;
            return false;
        }), FEW_OPERATIONS);
        long times = requested[0];
        assertThat(times).isGreaterThan(30);
        for (long first = 2; first <= times; first++) {
            long from = first;
            requested[0] = 0;
            model.clear();
            healed = false;
            run(config(ExpireAlgorithm.WHEEL, EvictionPolicy.NOEVICTION, 31),
                    RefusingRegions.of(_ -> ++requested[0] >= from && requested[0] < from + refusals && !healed),
                    FEW_OPERATIONS);
        }
    }

    private CacheConfig config(ExpireAlgorithm algorithm, EvictionPolicy policy, long seed) {
        return CacheConfig.defaults(policy.evicts() ? 1 << 20 : 4 << 20).withDatabases(DATABASES)
                .withShards(2).withSegmentSizeBytes(4096).withMaxOpenSegments(2).withEvictionPolicy(policy)
                .withCleanerPolicy(seed % 3 == 0
                        ? CleanerPolicy.GREEDY
                        : seed % 3 == 1 ? CleanerPolicy.ORIGINAL : CleanerPolicy.MODIFIED)
                .withExpireAlgorithm(algorithm)
                .withExpireBaseMillis(100).withExpireBuckets(7).withHashSeed(seed).withTicker(ticker)
                .withCurves(new CurveSettings(seed % 2 == 0, CurveSettings.MIN_WINDOW))
                .withPenalties(new PenaltySettings(seed % 3 == 0, PenaltyRanges.MAX_CLASSES, (int) seed % 4));
    }

    private void run(CacheConfig config, Regions regions, int operations) {
        long seed = config.hashSeed();
        SplittableRandom random = new SplittableRandom(seed);
        Cache cache = InMemoryCache.open(config, regions);
        // Half of the runs keep the policy they are about.
        reconfigures = seed % 2 == 0;
        evictionAllowed = config.evictionPolicy().evicts();
        cache.subscribe((change, shard, sequence, database, keyAddress, keyLength) -> {
            if (change == Change.EVICTED) {
                assertThat(evictionAllowed).as("eviction under NOEVICTION").isTrue();
            }
            if (change == Change.EVICTED && database >= 0) {
                Name name = new Name(database, text(Memory.toArray(keyAddress, keyLength)));
                Value value = model.remove(name);
                assertThat(value != null && value.isPinned).as("eviction of the pinned %s", name).isFalse();
            }
        });
        try (CacheFixture fixture = new CacheFixture(cache)) {
            for (int i = 0; i < operations; i++) {
                step(fixture, random, "seed " + seed + " operation " + i);
                if (i % 500 == 0) {
                    checkAll(fixture, "seed " + seed + " operation " + i);
                }
            }
            checkAll(fixture, "seed " + seed + " end");
            healed = true;
            writesContinue(fixture);
            ticker.advanceMillis(1_000_000_000L);
            fixture.maintainFully();
            checkAll(fixture, "seed " + seed + " after all time");
            if (config.expireAlgorithm() == ExpireAlgorithm.WHEEL) {
                assertThat(cache.countExpiredUnreclaimed()).isZero();
            }
        }
    }

    /** A refused write is not refused for ever. */
    private void writesContinue(CacheFixture fixture) {
        for (int i = 0; i < 300; i++) {
            Name name = new Name(0, "late" + i);
            byte[] value = new byte[10];
            if (fixture.cache.admit(1000)) {
                fixture.set(0, CacheFixture.bytes(name.key), value, Item.NEVER);
                put(name, value, Item.NEVER);
            }
        }
    }

    private void step(CacheFixture fixture, SplittableRandom random, String where) {
        int database = random.nextInt(DATABASES);
        String key = "k" + random.nextInt(400) + (random.nextInt(50) == 0 ? "x".repeat(300) : "");
        Name name = new Name(database, key);
        long now = ticker.wallMillis();
        forget(name, now);
        switch (random.nextInt(20)) {
            case 0, 1, 2, 3, 4, 5 -> write(fixture, random, name, Item.NEVER);
            case 6, 7, 8 -> write(fixture, random, name, now + 1 + random.nextInt(3000));
            case 9, 10, 11 -> {
                byte[] got = fixture.get(database, CacheFixture.bytes(key));
                Value expected = model.get(name);
                assertThat(got).as(where).isEqualTo(expected == null ? null : expected.bytes);
            }
            case 12, 13 -> {
                boolean there = fixture.delete(database, CacheFixture.bytes(key));
                assertThat(there).as(where).isEqualTo(model.remove(name) != null);
            }
            case 14, 15 -> expire(fixture, random, name, where);
            case 16 -> resize(fixture, random, name, where);
            case 17 -> {
                int which = random.nextInt(8);
                if (which < 2) {
                    writeRun(fixture, random, name, where);
                } else if (which < 4) {
                    moveRun(fixture, random, name, where);
                } else {
                    resize(fixture, random, name, where);
                }
            }
            case 18 -> {
                ticker.advanceMillis(random.nextInt(120));
                fixture.cache.maintain();
                if (model.containsKey(name) && fixture.cache.itemClasses() > 1) {
                    hint(fixture, random, name);
                }
                pin(fixture, random, name, where);
            }
            default -> rare(fixture, random, database);
        }
    }

    /** A new value keeps the pin of the key. */
    private void put(Name name, byte[] bytes, long expireAtMillis) {
        forget(name, ticker.wallMillis());
        Value old = model.get(name);
        model.put(name, new Value(bytes, expireAtMillis, old != null && old.isPinned));
    }

    private void pin(CacheFixture fixture, SplittableRandom random, Name name, String where) {
        forget(name, ticker.wallMillis());
        Value value = model.get(name);
        if (value == null) {
            return;
        }
        boolean[] isPinned = {value.isPinned};
        fixture.withItem(name.database, CacheFixture.bytes(name.key), item -> {
            assertThat(fixture.session.isPinned(item)).as(where + " " + name).isEqualTo(value.isPinned);
            if (random.nextInt(3) == 0) {
                assertThat(fixture.session.unpinItem(item)).as(where + " " + name).isEqualTo(value.isPinned);
                isPinned[0] = false;
            } else {
                isPinned[0] = fixture.session.pinItem(item, MAX_PINNED_BYTES);
            }
        });
        model.put(name, new Value(value.bytes, value.expireAtMillis, isPinned[0]));
    }

    private void hint(CacheFixture fixture, SplittableRandom random, Name name) {
        forget(name, ticker.wallMillis());
        if (model.containsKey(name)) {
            int penaltyClass = random.nextInt(PenaltyRanges.MAX_CLASSES);
            fixture.withItem(name.database, CacheFixture.bytes(name.key), item -> {
                fixture.session.penaltyClass(item, penaltyClass);
                assertThat(fixture.session.penaltyClass(item)).isEqualTo(penaltyClass);
            });
        }
    }

    private void rare(CacheFixture fixture, SplittableRandom random, int database) {
        switch (random.nextInt(40)) {
            case 0 -> {
                fixture.cache.flush(database);
                model.keySet().removeIf(name -> name.database == database);
            }
            case 1 -> {
                int other = random.nextInt(DATABASES);
                fixture.cache.swap(database, other);
                swapModel(database, other);
            }
            case 2 -> fixture.maintainFully();
            case 3 -> ticker.advanceMillis(random.nextLong(200_000));
            case 4, 5 -> reconfigure(fixture, random);
            case 6, 7 -> scanUnderWrites(fixture, random, database);
            case 8 -> {
                // More than there are physical databases for, so that flushing has to reclaim.
                for (int i = 0; i < 40; i++) {
                    int flushed = random.nextInt(DATABASES);
                    fixture.cache.flush(flushed);
                    model.keySet().removeIf(name -> name.database == flushed);
                    write(fixture, random, new Name(flushed, "k" + i), Item.NEVER);
                }
            }
            case 9, 10, 11, 12 -> pick(fixture, database);
            case 13, 14, 15 -> fixture.session.writesInto(random.nextInt(PenaltyRanges.MAX_CLASSES + 1) - 1);
            default -> fixture.cache.maintain();
        }
    }

    /**
     * Limit, policy, samples, whether accesses are recorded and penalties tracked change while the store is in use;
     * under NOEVICTION nothing may be evicted.
     */
    private void reconfigure(CacheFixture fixture, SplittableRandom random) {
        CacheConfig config = fixture.cache.config();
        EvictionPolicy policy = config.evictionPolicy();
        if (reconfigures) {
            EvictionPolicy[] policies = EvictionPolicy.values();
            policy = random.nextInt(3) == 0 ? EvictionPolicy.NOEVICTION : policies[random.nextInt(policies.length)];
        }
        evictionAllowed = config.evictionPolicy().evicts();
        fixture.cache.reconfigure(config.withEvictionPolicy(policy).withEvictionSamples(1 + random.nextInt(20))
                .withMaxMemoryBytes((1 << 20) + random.nextInt(2 << 20))
                .withCurves(new CurveSettings(random.nextBoolean(), CurveSettings.MIN_WINDOW))
                .withPenalties(
                        new PenaltySettings(random.nextBoolean(), PenaltyRanges.MAX_CLASSES, random.nextInt(4))));
    }

    /**
     * A key that is present throughout is visited, with keys written, deleted, moved and the tables rehashed in
     * between.
     */
    private void scanUnderWrites(CacheFixture fixture, SplittableRandom random, int database) {
        fixture.now();
        Set<String> throughout = new HashSet<>();
        model.forEach((name, value) -> {
            if (name.database == database && value.expireAtMillis == Item.NEVER) {
                throughout.add(name.key);
            }
        });
        Set<String> seen = new HashSet<>();
        int count = 1 + random.nextInt(30);
        long cursor = 0;
        do {
            cursor = fixture.session.scan(database, cursor, count,
                    visited -> seen.add(text(Memory.toArray(visited.keyAddress(), visited.keyLength()))));
            for (int i = random.nextInt(12); i > 0; i--) {
                Name name = new Name(database, "k" + random.nextInt(400));
                forget(name, ticker.wallMillis());
                if (random.nextBoolean()) {
                    write(fixture, random, name, Item.NEVER);
                } else {
                    assertThat(fixture.delete(database, CacheFixture.bytes(name.key)))
                            .isEqualTo(model.remove(name) != null);
                    throughout.remove(name.key);
                }
            }
            fixture.cache.maintain();
        } while (cursor != 0);
        throughout.removeIf(key -> !model.containsKey(new Name(database, key)));
        assertThat(seen).containsAll(throughout);
    }

    private void pick(CacheFixture fixture, int database) {
        fixture.now();
        String[] picked = {null};
        boolean any = fixture.session.random(database,
                visited -> picked[0] = text(Memory.toArray(visited.keyAddress(), visited.keyLength())));
        if (any) {
            Name name = new Name(database, picked[0]);
            forget(name, ticker.wallMillis());
            assertThat(model).containsKey(name);
        }
    }

    /** A large value in a run of its own; now and then the run is held while the key gets another value. */
    private void writeRun(CacheFixture fixture, SplittableRandom random, Name name, String where) {
        byte[] value = new byte[fixture.cache.runThresholdBytes() + random.nextInt(20_000)];
        random.nextBytes(value);
        byte[] key = CacheFixture.bytes(name.key);
        ValueRun run = fixture.cache.newRun(fixture.session.headroom(key.length), value.length);
        if (run == null) {
            return;
        }
        Memory.copy(value, 0, run.address(), value.length);
        boolean hold = random.nextInt(3) == 0;
        if (hold) {
            run.retain();
        }
        long expireAt = random.nextBoolean() ? Item.NEVER : ticker.wallMillis() + 1 + random.nextInt(3000);
        try {
            fixture.putRun(name.database, key, run, expireAt);
            put(name, value, expireAt);
        } catch (CacheFullException full) {
            assertThat(full.bytes()).isNotNegative();
        }
        if (hold) {
            switch (random.nextInt(4)) {
                case 0 -> write(fixture, random, name, Item.NEVER);
                case 1 -> resize(fixture, random, name, where);
                case 2 -> expire(fixture, random, name, where);
                default -> {
                    fixture.delete(name.database, key);
                    model.remove(name);
                }
            }
            assertThat(Memory.toArray(run.address(), value.length)).as(where).isEqualTo(value);
            run.release();
        }
    }

    private void write(CacheFixture fixture, SplittableRandom random, Name name, long expireAt) {
        int length = random.nextInt(30) == 0 ? random.nextInt(9000) : random.nextInt(random.nextInt(8) == 0 ? 900 : 60);
        byte[] value = new byte[length];
        random.nextBytes(value);
        if (!fixture.cache.admit(length + 512L)) {
            return;
        }
        long keptExpiry = expireAt;
        if (random.nextInt(4) == 0) {
            keptExpiry = CacheSession.KEEP;
            Value old = model.get(name);
            expireAt = old == null ? Item.NEVER : old.expireAtMillis;
        }
        try {
            fixture.set(name.database, CacheFixture.bytes(name.key), value, keptExpiry);
            put(name, value, expireAt);
        } catch (CacheFullException full) {
            // Refused: the key is unchanged, as its next read shows.
            assertThat(full.bytes()).isNotNegative();
        }
    }

    private void expire(CacheFixture fixture, SplittableRandom random, Name name, String where) {
        fixture.cache.admit(10_000);
        Value old = model.get(name);
        long expireAt = random.nextInt(3) == 0
                ? Item.NEVER
                : ticker.wallMillis() + 1 + random.nextInt(random.nextInt(5) == 0 ? 2_000_000 : 2000);
        try {
            boolean there = fixture.expire(name.database, CacheFixture.bytes(name.key), expireAt);
            if (old != null && there) {
                put(name, old.bytes, expireAt);
            }
            assertThat(there).as(where).isEqualTo(model.containsKey(name));
        } catch (CacheFullException full) {
            assertThat(full.bytes()).isNotNegative();
        }
    }

    private void resize(CacheFixture fixture, SplittableRandom random, Name name, String where) {
        fixture.cache.admit(20_000);
        Value old = model.get(name);
        int length = old == null ? 5 : random.nextInt(old.bytes.length * 2 + 20);
        byte fill = (byte) random.nextInt();
        try {
            boolean there = fixture.resize(name.database, CacheFixture.bytes(name.key), length,
                    random.nextBoolean() ? length : length * 2, fill);
            assertThat(there).as(where).isEqualTo(old != null);
            if (old != null) {
                byte[] grown = Arrays.copyOf(old.bytes, length);
                if (length > old.bytes.length) {
                    Arrays.fill(grown, old.bytes.length, length, fill);
                }
                put(name, grown, old.expireAtMillis);
            }
        } catch (CacheFullException full) {
            assertThat(full.bytes()).isNotNegative();
        }
    }

    /** A large item's memory goes to another key, over what that has, or nothing changes. */
    private void moveRun(CacheFixture fixture, SplittableRandom random, Name from, String where) {
        Name to = new Name(random.nextInt(DATABASES),
                "k" + random.nextInt(400) + (random.nextInt(20) == 0 ? "y".repeat(600) : ""));
        if (from.equals(to)) {
            return;
        }
        fixture.cache.admit(1000);
        Value old = model.get(from);
        try {
            Boolean moved = fixture.moveRun(from.database, CacheFixture.bytes(from.key), to.database,
                    CacheFixture.bytes(to.key));
            assertThat(moved != null).as(where).isEqualTo(old != null);
            if (moved != null && moved) {
                Value value = java.util.Objects.requireNonNull(model.remove(from));
                put(to, value.bytes, value.expireAtMillis);
            }
        } catch (CacheFullException full) {
            assertThat(full.bytes()).isNotNegative();
        }
    }

    private void checkAll(CacheFixture fixture, String where) {
        long now = ticker.wallMillis();
        assertThat(fixture.cache.checkIntegrity()).as(where).isEmpty();
        model.values().removeIf(value -> value.expireAtMillis != Item.NEVER
                && now > value.expireAtMillis);
        for (int database = 0; database < DATABASES; database++) {
            Set<String> expected = new HashSet<>();
            int wanted = database;
            model.keySet().stream().filter(name -> name.database == wanted).forEach(name -> expected.add(name.key));
            Set<String> scanned = new HashSet<>();
            fixture.scanAll(database, 10).forEach(key -> scanned.add(text(key)));
            assertThat(scanned).as(where).isEqualTo(expected);
        }
        model.forEach((name, value) -> {
            assertThat(fixture.get(name.database, CacheFixture.bytes(name.key))).as(where + " " + name)
                    .isEqualTo(value.bytes);
            assertThat(fixture.expireAt(name.database, CacheFixture.bytes(name.key))).as(where + " " + name)
                    .isEqualTo(value.expireAtMillis);
            fixture.withItem(name.database, CacheFixture.bytes(name.key),
                    item -> assertThat(fixture.session.isPinned(item)).as(where + " " + name)
                            .isEqualTo(value.isPinned));
        });
        // Those that have expired count until they are removed.
        assertThat(fixture.cache.stats().pinnedItems()).as(where)
                .isGreaterThanOrEqualTo(model.values().stream().filter(Value::isPinned).count());
        assertThat(fixture.cache.stats().usedBytes()).as(where).isLessThanOrEqualTo(
                fixture.cache.stats().chargedBytes() + 1);
    }

    private void forget(Name name, long now) {
        Value value = model.get(name);
        if (value != null && value.expireAtMillis != Item.NEVER && now > value.expireAtMillis) {
            model.remove(name);
        }
    }

    private void swapModel(int first, int second) {
        Map<Name, Value> swapped = new HashMap<>();
        model.forEach((name, value) -> {
            int database = name.database == first ? second : name.database == second ? first : name.database;
            swapped.put(new Name(database, name.key), value);
        });
        model.clear();
        model.putAll(swapped);
    }

    @Test
    void flush_releasesMemory() {
        CacheConfig config = CacheConfig.defaults(16 << 20).withShards(4).withTicker(ticker);
        try (CacheFixture fixture = new CacheFixture(Cache.open(config))) {
            long before = fixture.cache.stats().usedBytes();
            for (int i = 0; i < 20_000; i++) {
                fixture.set(0, CacheFixture.bytes("key" + i), new byte[100], i % 2 == 0
                        ? Item.NEVER
                        : ticker.wallMillis() + 10_000);
            }
            assertThat(fixture.cache.stats().usedBytes()).isGreaterThan(before + 20_000 * 100);
            fixture.cache.flushAll();
            assertThat(fixture.cache.size(0)).isZero();
            fixture.maintainFully();
            assertThat(fixture.cache.stats().usedBytes() - before).isLessThan(160_000);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, java.nio.charset.StandardCharsets.UTF_8);
    }
}
