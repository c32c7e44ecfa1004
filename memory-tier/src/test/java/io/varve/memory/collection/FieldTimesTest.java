package io.varve.memory.collection;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.varve.memory.Cache;
import io.varve.memory.collection.packed.PackedHash;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.expiry.ExpireAlgorithm;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.item.Ticker;
import io.varve.memory.offheap.LiveRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.CollectionsFixture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

/** Tests hashes whose fields have times, as items of a cache. Confined to the test's thread. */
public class FieldTimesTest {
    private static final long START = 1_750_000_000_000L;

    /** A clock that advances by 20 µs with each reading; the test sets the date. Confined to the test's thread. */
    private static final class SlowTicker implements Ticker {
        private long millis = START;
        private long nanos;

        @Override
        public long wallMillis() {
            return millis;
        }

        @Override
        public long nanoTime() {
            nanos += 20_000;
            return nanos;
        }
    }

    private final SlowTicker ticker = new SlowTicker();
    private final List<String> events = new ArrayList<>();

    private CollectionsFixture open(CacheConfig config) {
        CollectionsFixture fixture = new CollectionsFixture(Cache.open(config.withTicker(ticker)));
        fixture.cache.subscribe((change, _, _, _, address, length) -> {
            if (change != Change.SET) {
                events.add(change + " " + new String(Memory.toArray(address, length), ISO_8859_1));
            }
        });
        return fixture;
    }

    private static long visible(CollectionsFixture fixture, String name) {
        Long visible = fixture.with(name, new HashTree(), HashTree::visible);
        return visible == null ? 0 : visible;
    }

    private static long size(CollectionsFixture fixture, String name) {
        Long size = fixture.with(name, new HashTree(), HashTree::size);
        return size == null ? 0 : size;
    }

    private static void makeTimed(CollectionsFixture fixture, String name, int fields, int lasting, long time) {
        HashTree tree = new HashTree();
        tree.keepTimes(true);
        fixture.make(name, tree, Item.NEVER, () -> {
            for (int i = 0; i < fields; i++) {
                fixture.put(tree, "field" + i, "v", i < lasting ? Item.NEVER : time);
            }
        });
    }

    /** A large hash is removed in slices, alternating with other due keys; no reader sees any of it meanwhile. */
    @ParameterizedTest
    @EnumSource(ExpireAlgorithm.class)
    void dueFieldsOfALargeHashAreRemovedInSlices(ExpireAlgorithm algorithm) {
        try (CollectionsFixture fixture = open(CacheConfig.defaults(64L << 20).withShards(1)
                .withExpireAlgorithm(algorithm).withExpireBaseMillis(100).withExpireBuckets(7))) {
            makeTimed(fixture, "large", 60_000, 3, START + 1000);
            makeTimed(fixture, "other", 300, 0, START + 1000);
            fixture.plain.set(0, CacheFixture.bytes("string"), CacheFixture.bytes("v"), START + 1000);
            assertThat(visible(fixture, "large")).isEqualTo(60_000);
            ticker.millis = START + 1001;
            assertThat(visible(fixture, "large")).isEqualTo(3);
            assertThat(size(fixture, "large")).isEqualTo(60_000);
            assertThat(fixture.cache.expiringSize(0)).as("keys that expire").isOne();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            ticker.millis = START + 1200;
            cycle(fixture);
            assertThat(size(fixture, "large")).as("some were removed, and others not").isBetween(4L, 59_999L);
            assertThat(visible(fixture, "large")).isEqualTo(3);
            if (algorithm == ExpireAlgorithm.WHEEL) {
                assertThat(events).contains("EXPIRED string", "EMPTIED other", "FIELDS_EXPIRED large");
            }
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            int cycles = 0;
            while (size(fixture, "large") > 3) {
                cycle(fixture);
                assertThat(cycles++).isLessThan(5000);
            }
            assertThat(events.stream().filter("FIELDS_EXPIRED large"::equals)).hasSize(2);
            Map<String, String> left = new TreeMap<>(Map.of("field0", "v", "field1", "v", "field2", "v"));
            assertThat(fixture.hash("large")).isEqualTo(left);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    private void cycle(CollectionsFixture fixture) {
        ticker.nanos += 100_000_000;
        fixture.cache.maintain();
    }

    /** An old hash gets space for times, and keeps its fields. */
    @Test
    void aLargeHashGrowsForFieldTimes() {
        try (CollectionsFixture fixture = open(CacheConfig.defaults(64L << 20).withShards(2))) {
            fixture.makeHash("hash", 1000, 5, START + 5000);
            long before = fixture.memoryUsage("hash");
            Map<String, String> all = fixture.hash("hash");
            fixture.withTimes("hash", START + 500, tree -> {
                fixture.put(tree, "field7", "timed", START + 500);
                return true;
            });
            assertThat(fixture.memoryUsage("hash")).isGreaterThan(before);
            assertThat(fixture.plain.expireAt(0, CacheFixture.bytes("hash"))).isEqualTo(START + 5000);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            assertThat(fixture.transfer("hash", "copy", 0, false)).isTrue();
            assertThat(fixture.transfer("hash", "moved", 1, true)).isTrue();
            assertThat(fixture.transfer("copy", "hash", 0, true)).isTrue();
            ticker.millis = START + 501;
            assertThat(visible(fixture, "hash")).isEqualTo(999);
            // A due field is still present, and is copied too.
            assertThat(fixture.transfer("hash", "again", 0, true)).isTrue();
            assertThat(visible(fixture, "again")).isEqualTo(999);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            ticker.millis = START + 2000;
            cycle(fixture);
            java.util.Objects.requireNonNull(all).remove("field7");
            assertThat(fixture.hash("again")).isEqualTo(all);
            assertThat(events).contains("FIELDS_EXPIRED again", "FIELDS_EXPIRED moved");
            assertThat(fixture.plain.expireAt(0, CacheFixture.bytes("again"))).isEqualTo(START + 5000);
            ticker.millis = START + 7000;
            cycle(fixture);
            assertThat(fixture.cache.size(0) + fixture.cache.size(1)).isZero();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** If only keys with an expiry time may be evicted, field times do not make a key evictable. */
    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = "VOLATILE_.*", mode = EnumSource.Mode.MATCH_ANY)
    void fieldTimes_doNotMakeAKeyVolatile(EvictionPolicy policy) {
        try (CollectionsFixture fixture = open(CacheConfig.defaults(2L << 20).withShards(1)
                .withSegmentSizeBytes(16 << 10).withEvictionPolicy(policy))) {
            makeTimed(fixture, "hash", 1000, 1, START + 1_000_000);
            int set = 0;
            for (int i = 0; i < 20_000; i++) {
                if (fixture.cache.admit(500)) {
                    fixture.plain.set(0, CacheFixture.bytes("key" + i), new byte[200], START + 2_000_000);
                    set++;
                }
            }
            assertThat(set).isEqualTo(20_000);
            assertThat(visible(fixture, "hash")).isEqualTo(1000);
            assertThat(events).isNotEmpty().doesNotContain("EVICTED hash");
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /**
     * Most sampled keys are hashes with field times: a key that may be evicted, or counts for the mean TTL, is found
     * nevertheless.
     */
    @Test
    void samplingFindsAnExpiringKeyAmongHashesWithFieldTimes() {
        try (CollectionsFixture fixture = open(CacheConfig.defaults(8L << 20).withShards(1))) {
            for (int i = 0; i < 3000; i++) {
                makeTimed(fixture, "hash" + i, 2, 1, START + 1_000_000);
            }
            fixture.plain.set(0, CacheFixture.bytes("key"), new byte[20], START + 2_000_000);
            fixture.plain.maintainFully();
            ticker.millis += 1100;
            ticker.nanos += 1_100_000_000L;
            fixture.plain.maintainFully();
            assertThat(fixture.cache.stats().databases().getFirst().averageTtlMillis()).isEqualTo(2_000_000 - 1100);
        }
    }

    public static byte[] packed(long expireAtMillis, long... times) {
        try (Arena arena = Arena.ofConfined()) {
            long memory = arena.allocate(1000).address();
            LiveRanges.add(memory, 1000);
            TimedHashLayout.write(memory, expireAtMillis, 1);
            long hash = memory + TimedHashLayout.WORD_BYTES;
            PackedHash.clear(hash);
            int length = PackedHash.EMPTY_BYTES;
            for (long time : times) {
                Memory.putByte(memory + 999, (byte) ('a' + PackedHash.count(hash)));
                length = PackedHash.append(hash, length, memory + 999, 1, memory + 999, 1, time);
            }
            byte[] value = Memory.toArray(memory, TimedHashLayout.WORD_BYTES + length);
            LiveRanges.remove(memory);
            return value;
        }
    }

    @Test
    void settingATimeMovesALongFieldOnce() {
        int valueLength = 200_000;
        try (CollectionsFixture fixture = open(CacheConfig.defaults(8L << 20).withShards(1));
                Arena arena = Arena.ofConfined()) {
            long value = arena.allocate(valueLength).address();
            long made = arena.allocate(2L * valueLength).address();
            LiveRanges.add(value, valueLength);
            LiveRanges.add(made, 2L * valueLength);
            PackedHash.clear(made);
            int length = PackedHash.append(made, PackedHash.EMPTY_BYTES, value, 1, value, valueLength, Item.NEVER);
            CacheFixture plain = fixture.plain;
            plain.now();
            Key key = plain.bind(0, CacheFixture.bytes("h"));
            plain.session.lock(key);
            try {
                plain.session.set(key, ItemType.HASH, 1, made, length, Item.NEVER);
                assertThat(plain.session.peek(key, plain.item)).isTrue();
                plain.session.keepFieldTimes(key, plain.item, START + 1000);
                long moved = plain.item.address();
                int timed = Math.toIntExact(length + PackedHash.entryBytes(1, valueLength, START)
                        - PackedHash.entryBytes(1, valueLength, Item.NEVER));
                plain.session.resize(key, plain.item, Item.TIMED, TimedHashLayout.WORD_BYTES + timed,
                        TimedHashLayout.WORD_BYTES + timed);
                assertThat(plain.item.address()).isEqualTo(moved);
                long hash = plain.item.valueAddress() + TimedHashLayout.WORD_BYTES;
                assertThat(PackedHash.time(hash, length, PackedHash.first(hash, length), START + 1000))
                        .isEqualTo(timed);
            } finally {
                plain.session.unlock(key);
                LiveRanges.remove(value);
                LiveRanges.remove(made);
            }
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    private static long examineAtMillis(CacheFixture plain, String key) {
        plain.now();
        Key bound = plain.bind(0, CacheFixture.bytes(key));
        plain.session.lock(bound);
        try {
            assertThat(plain.session.peek(bound, plain.item)).isTrue();
            return ItemLayout.expireAtMillis(plain.item.address());
        } finally {
            plain.session.unlock(bound);
        }
    }

    /** It expires on flash with its last field; back in memory it is examined when its first field is due. */
    @Test
    void aDemotedHashExpiresWithItsLastFieldAndIsRestoredUnchanged() {
        Map<String, Long> ends = new TreeMap<>();
        Map<String, byte[]> values = new TreeMap<>();
        CacheConfig config = CacheConfig.defaults(2L << 20).withShards(1).withSegmentSizeBytes(16 << 10)
                .withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU).withExpireBaseMillis(100);
        try (CollectionsFixture fixture = open(config)) {
            CacheFixture plain = fixture.plain;
            fixture.cache.attachSecondaryTier((_, _, item, _, _) -> {
                String key = new String(Memory.toArray(item.keyAddress(), item.keyLength()), ISO_8859_1);
                if (item.type() == ItemType.HASH) {
                    ends.put(key, item.expireAtMillis());
                    values.put(key, Memory.toArray(item.valueAddress(), item.valueLength()));
                    assertThat(item.encoding()).isEqualTo(Item.TIMED);
                }
                return true;
            });
            plain.restore(0, CacheFixture.bytes("all"), ItemType.HASH, Item.TIMED,
                    packed(Item.NEVER, START + 50_000, START + 90_000, START + 60_000), 0, Item.NEVER, 1);
            plain.restore(0, CacheFixture.bytes("some"), ItemType.HASH, Item.TIMED,
                    packed(Item.NEVER, START + 50_000, Item.NEVER), 0, Item.NEVER, 1);
            plain.restore(0, CacheFixture.bytes("key"), ItemType.HASH, Item.TIMED,
                    packed(START + 80_000, START + 50_000, START + 90_000), 0, START + 80_000, 1);
            assertThat(fixture.cache.expiringSize(0)).isOne();
            assertThat(fixture.cache.stats().databases().getFirst().timedHashes()).isEqualTo(3);
            assertThat(List.of("all", "some", "key")).as("in the class of what lives as long")
                    .allSatisfy(key -> assertThat(examineAtMillis(plain, key)).isEqualTo(START + 50_000));
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            for (int i = 0; i < 20_000; i++) {
                assertThat(fixture.cache.admit(500)).isTrue();
                plain.set(0, CacheFixture.bytes("key" + i), new byte[200], Item.NEVER);
            }
            assertThat(ends).isEqualTo(Map.of("all", START + 90_000, "some", Item.NEVER, "key", START + 80_000));
            assertThat(fixture.cache.expiringSize(0)).isZero();
            fixture.cache.flushAll();
            values.forEach((key, value) -> plain.restore(0, CacheFixture.bytes(key), ItemType.HASH, Item.TIMED, value,
                    0, java.util.Objects.requireNonNull(ends.get(key)), 1));
            assertThat(plain.expireAt(0, CacheFixture.bytes("all"))).isEqualTo(Item.NEVER);
            assertThat(plain.expireAt(0, CacheFixture.bytes("key"))).isEqualTo(START + 80_000);
            events.clear();
            for (int elapsed = 0; elapsed <= 100_000; elapsed += 100) {
                ticker.millis = START + elapsed;
                cycle(fixture);
                if (elapsed == 49_900) {
                    assertThat(events).isEmpty();
                }
            }
            assertThat(events).containsExactlyInAnyOrder("FIELDS_EXPIRED all", "FIELDS_EXPIRED some",
                    "FIELDS_EXPIRED key", "FIELDS_EXPIRED all", "EXPIRED key", "EMPTIED all");
            assertThat(fixture.cache.size(0)).isOne();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }
}
