package io.varve.memory;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.item.KeySlots;
import io.varve.memory.offheap.Memory;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static io.varve.memory.testing.CacheFixture.bytes;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests scans over all shards, and random keys of them. Confined to the test's thread. */
class KeyspaceScanTest {
    private static final int KEYS = 2000;
    private static final int DRAWS = 1000;

    private final ManualTicker ticker = new ManualTicker();

    private CacheFixture open(int shards) {
        return new CacheFixture(Cache.open(CacheConfig.defaults(8 << 20).withShards(shards).withSegmentSizeBytes(4096)
                .withHashSeed(7).withTicker(ticker)));
    }

    private static Set<String> fill(CacheFixture fixture, int database, int keys, long expireAtMillis) {
        Set<String> names = new HashSet<>();
        for (int i = 0; i < keys; i++) {
            String name = database + ":" + i;
            fixture.set(database, bytes(name), bytes("v"), expireAtMillis);
            names.add(name);
        }
        // Ends the rehash, during which a scan may visit a key twice.
        fixture.maintainFully();
        return names;
    }

    private static String name(Item item) {
        return new String(Memory.toArray(item.keyAddress(), item.keyLength()), UTF_8);
    }

    private static List<String> scanAll(CacheFixture fixture, int database, int count) {
        return fixture.scanAll(database, count).stream().map(name -> new String(name, UTF_8)).toList();
    }

    /** A random key, or an empty string if there is none. */
    private static String random(CacheFixture fixture, int database) {
        fixture.now();
        StringBuilder drawn = new StringBuilder();
        boolean found = fixture.session.random(database, item -> drawn.append(name(item)));
        assertThat(found).isEqualTo(!drawn.isEmpty());
        return drawn.toString();
    }

    // --- scan

    @ParameterizedTest
    @ValueSource(ints = {1, 10, 333, 10_000})
    void scan_visitsEachKeyOfTheDatabaseOnce(int count) {
        try (CacheFixture fixture = open(4)) {
            Set<String> names = fill(fixture, 0, KEYS, Item.NEVER);
            Set<String> others = fill(fixture, 1, 5, Item.NEVER);
            assertThat(scanAll(fixture, 0, count)).containsExactlyInAnyOrderElementsOf(names);
            assertThat(scanAll(fixture, 1, count)).containsExactlyInAnyOrderElementsOf(others);
            assertThat(scanAll(fixture, 2, count)).isEmpty();
        }
    }

    @Test
    void scan_ofACallVisitsAboutCountKeys() {
        try (CacheFixture fixture = open(4)) {
            fill(fixture, 0, KEYS, Item.NEVER);
            fixture.now();
            List<String> visited = new ArrayList<>();
            long cursor = fixture.session.scan(0, 0, 10, item -> visited.add(name(item)));
            assertThat(cursor).isNotZero();
            assertThat(visited).hasSizeBetween(10, 100);
        }
    }

    /** The work of a call is limited even if it finds nothing. */
    @Test
    void scan_ofManyEmptyShards_takesSeveralCalls() {
        try (CacheFixture fixture = open(64)) {
            fixture.now();
            long cursor = fixture.session.scan(0, 0, 1, _ -> {});
            assertThat(cursor).isNotZero();
            assertThat(scanAll(fixture, 0, 1)).isEmpty();
        }
    }

    @Test
    void scan_doesNotVisitExpiredKeys() {
        try (CacheFixture fixture = open(4)) {
            Set<String> lasting = fill(fixture, 0, 100, Item.NEVER);
            for (int i = 0; i < 100; i++) {
                fixture.set(0, bytes("expires " + i), bytes("v"), ticker.wallMillis() + 1000);
            }
            ticker.advanceMillis(2000);
            assertThat(fixture.cache.size(0)).as("with unreclaimed ones").isEqualTo(200);
            assertThat(scanAll(fixture, 0, 10)).containsExactlyInAnyOrderElementsOf(lasting);
        }
    }

    // --- random

    @Test
    void random_ofAnEmptyDatabase_findsNone() {
        try (CacheFixture fixture = open(4)) {
            fill(fixture, 1, 10, Item.NEVER);
            assertThat(random(fixture, 0)).isEmpty();
        }
    }

    @Test
    void random_findsTheOnlyKey() {
        try (CacheFixture fixture = open(64)) {
            fixture.set(0, bytes("only"), bytes("v"), Item.NEVER);
            assertThat(random(fixture, 0)).isEqualTo("only");
        }
    }

    @Test
    void random_drawsFromAllShards_andFromTheDatabaseOnly() {
        try (CacheFixture fixture = open(4)) {
            Set<String> names = fill(fixture, 0, KEYS, Item.NEVER);
            fill(fixture, 1, KEYS, Item.NEVER);
            Set<String> drawn = new HashSet<>();
            Set<Integer> shards = new HashSet<>();
            for (int i = 0; i < DRAWS; i++) {
                String name = random(fixture, 0);
                drawn.add(name);
                shards.add(fixture.bind(0, bytes(name)).shard());
            }
            assertThat(names).containsAll(drawn);
            assertThat(shards).containsExactlyInAnyOrder(0, 1, 2, 3);
            assertThat(drawn).hasSizeGreaterThan(DRAWS / 4);
        }
    }

    @Test
    void random_ofExpiredKeysOnly_findsNone() {
        try (CacheFixture fixture = open(4)) {
            fill(fixture, 0, 100, ticker.wallMillis() + 1000);
            ticker.advanceMillis(2000);
            assertThat(fixture.cache.size(0)).as("unreclaimed").isEqualTo(100);
            assertThat(random(fixture, 0)).isEmpty();
        }
    }

    // --- slots

    private static List<String> scanSlot(CacheFixture fixture, int database, int slot) {
        List<String> visited = new ArrayList<>();
        fixture.now();
        long cursor = 0;
        do {
            cursor = fixture.session.scanSlot(database, slot, cursor, item -> visited.add(name(item)));
        } while (cursor != 0);
        return visited;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 64})
    void scanSlot_visitsEachKeyOfTheSlotOnce(int shards) {
        int slots = 10;
        KeySlots byLastDigit = (address, length) -> Memory.getByte(address + length - 1) - '0';
        try (CacheFixture fixture = new CacheFixture(Cache.open(CacheConfig.defaults(8 << 20).withShards(shards)
                .withSegmentSizeBytes(4096).withTicker(ticker).withKeySlots(byLastDigit)))) {
            Set<String> names = fill(fixture, 0, KEYS, Item.NEVER);
            fill(fixture, 1, 5, Item.NEVER);
            for (int slot = 0; slot < slots; slot++) {
                String end = Integer.toString(slot);
                assertThat(scanSlot(fixture, 0, slot)).hasSize(KEYS / slots).containsExactlyInAnyOrderElementsOf(
                        names.stream().filter(name -> name.endsWith(end)).toList());
            }
            Set<String> ofOneShard = new HashSet<>();
            long cursor = 0;
            do {
                cursor = fixture.session.scanSlots(0, 1, slot -> slot % shards == 1 % shards, cursor,
                        item -> assertThat(ofOneShard.add(name(item))).isTrue());
            } while (cursor != 0);
            assertThat(ofOneShard).containsExactlyInAnyOrderElementsOf(names.stream()
                    .filter(name -> (name.charAt(name.length() - 1) - '0') % shards == 1 % shards).toList());
            assertThat(scanAll(fixture, 0, 10)).containsExactlyInAnyOrderElementsOf(names);
            Key key = new Key();
            fixture.session.scan(0, 0, KEYS, item -> {
                fixture.session.bind(key, 0, item.keyAddress(), item.keyLength());
                assertThat(key.slot()).isEqualTo(byLastDigit.slot(item.keyAddress(), item.keyLength()));
                assertThat(key.shard()).isEqualTo(key.slot() % shards);
            });
        }
    }

    @Test
    void scanSlot_withoutSlots_isRefused() {
        try (CacheFixture fixture = open(4)) {
            assertThatThrownBy(() -> scanSlot(fixture, 0, 1)).isInstanceOf(IllegalStateException.class);
        }
    }
}
