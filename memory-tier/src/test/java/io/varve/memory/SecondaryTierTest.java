package io.varve.memory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.offheap.Memory;
import io.varve.memory.report.Epochs;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests items that are demoted from memory and restored. Confined to the test's thread. */
class SecondaryTierTest {
    private static final int KEYS = 20_000;

    /** A demoted item. Immutable. */
    private record Demoted(long epoch, ItemType type, int encoding, String value, long expireAtMillis, int access,
            long hash) {}

    private static CacheFixture open() {
        return new CacheFixture(Cache.open(CacheConfig.defaults(2L << 20).withShards(4).withSegmentSizeBytes(16 << 10)
                .withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)));
    }

    private static String text(long address, int length) {
        return new String(Memory.toArray(address, length), StandardCharsets.UTF_8);
    }

    @Test
    void evictedItemsAreDemotedUnchanged() {
        Map<String, Demoted> secondary = new HashMap<>();
        Set<String> reported = new HashSet<>();
        Set<String> demotedKeys = new HashSet<>();
        try (CacheFixture fixture = open()) {
            fixture.cache.attachSecondaryTier((epoch, hash, item, access, _) -> {
                Demoted demoted = new Demoted(epoch, item.type(), item.encoding(),
                        text(item.valueAddress(), item.valueLength()), item.expireAtMillis(), access, hash);
                String key = text(item.keyAddress(), item.keyLength());
                boolean takes = key.hashCode() % 3 != 0;
                if (takes) {
                    assertThat(secondary.put(key, demoted)).as(key).isNull();
                }
                return takes;
            });
            fixture.cache.subscribe((change, _, _, _, address, length) -> {
                if (change == Change.EVICTED) {
                    reported.add(text(address, length));
                } else if (change == Change.DEMOTED) {
                    demotedKeys.add(text(address, length));
                }
            });
            long later = System.currentTimeMillis() + 1_000_000;
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.cache.admit(500)).isTrue();
                fixture.set(i % 2, CacheFixture.bytes("key " + i),
                        CacheFixture.bytes("value " + i + "x".repeat(i % 300)),
                        i % 5 == 0 ? later : Item.NEVER);
            }
            assertThat(secondary).hasSizeGreaterThan(KEYS / 4);
            List<Long> epochs = fixture.cache.epochs().ofDatabases();
            secondary.forEach((key, demoted) -> {
                int i = Integer.parseInt(key.substring(4));
                assertThat(demoted.value()).isEqualTo("value " + i + "x".repeat(i % 300));
                assertThat(demoted.epoch()).isEqualTo(epochs.get(i % 2));
                assertThat(demoted.type()).isEqualTo(ItemType.STRING);
                assertThat(demoted.expireAtMillis()).isEqualTo(i % 5 == 0 ? later : Item.NEVER);
                assertThat(demoted.access()).isPositive();
            });
            assertThat(reported).as("evictions that are the end of it").isNotEmpty()
                    .doesNotContainAnyElementsOf(secondary.keySet());
            assertThat(demotedKeys).isEqualTo(secondary.keySet());
            assertThat(fixture.cache.stats().evicted()).isEqualTo(reported.size());
            assertThat(reported.size() + secondary.size() + fixture.cache.size(0) + fixture.cache.size(1))
                    .isEqualTo(KEYS);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** If the heap is exhausted, for example: an item that is not demoted stays in memory, and all of it is usable. */
    @Test
    void itemsStayIfTheSecondaryTierFails() {
        Set<String> secondary = new HashSet<>();
        int[] calls = {0};
        int failed = 0;
        try (CacheFixture fixture = open()) {
            fixture.cache.attachSecondaryTier((_, _, item, _, _) -> {
                if (++calls[0] % 50 == 0) {
                    throw new OutOfMemoryError("for the test");
                }
                assertThat(secondary.add(text(item.keyAddress(), item.keyLength()))).isTrue();
                return true;
            });
            int set = 0;
            for (int i = 0; i < KEYS; i++) {
                try {
                    assertThat(fixture.cache.admit(500)).isTrue();
                } catch (OutOfMemoryError expected) {
                    failed++;
                    continue;
                }
                fixture.set(0, CacheFixture.bytes("key " + i), CacheFixture.bytes("value".repeat(i % 60)), Item.NEVER);
                set++;
            }
            assertThat(failed).isPositive();
            assertThat(secondary.size() + fixture.cache.size(0)).isEqualTo(set);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    /** While data is loaded. */
    @Test
    void refusedItems_stayInMemoryWhileTheTierKeepsAll() {
        boolean[] keepsAll = {true};
        SecondaryTier refusing = new SecondaryTier() {
            @Override
            public boolean take(long epoch, long hash, Item item, int access, int penaltyClass) {
                return false;
            }

            @Override
            public boolean keepsAll() {
                return keepsAll[0];
            }
        };
        try (CacheFixture fixture = open()) {
            fixture.cache.attachSecondaryTier(refusing);
            for (int i = 0; i < 1000; i++) {
                fixture.set(0, CacheFixture.bytes("key " + i), CacheFixture.bytes("value".repeat(40)), Item.NEVER);
            }
            assertThat(fixture.cache.reclaimTo(1)).isFalse();
            assertThat(fixture.cache.size(0)).isEqualTo(1000);
            keepsAll[0] = false;
            assertThat(fixture.cache.reclaimTo(1)).isFalse();
            assertThat(fixture.cache.size(0)).isLessThan(500);
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void restoredItemsEqualDemotedOnes() {
        try (CacheFixture fixture = open()) {
            byte[] value = CacheFixture.bytes("..a value");
            long later = System.currentTimeMillis() + 1_000_000;
            assertThat(fixture.restore(1, CacheFixture.bytes("key"), ItemType.HASH, 1, value, 2, later, 0x123456))
                    .isTrue();
            assertThat(fixture.restore(1, CacheFixture.bytes("key"), ItemType.STRING, 0, value, 0, Item.NEVER, 1))
                    .as("over one that is there").isFalse();
            fixture.withItem(1, CacheFixture.bytes("key"), item -> {
                assertThat(item.type()).isEqualTo(ItemType.HASH);
                assertThat(item.encoding()).isOne();
                assertThat(text(item.valueAddress(), item.valueLength())).isEqualTo("a value");
                assertThat(item.expireAtMillis()).isEqualTo(later);
            });
            assertThat(fixture.cache.size(1)).isOne();
            assertThat(fixture.cache.expiringSize(1)).isOne();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void flushEndsAnEpochAndSwapMovesIt() {
        try (CacheFixture fixture = open()) {
            Epochs first = fixture.cache.epochs();
            assertThat(first.ofDatabases()).doesNotHaveDuplicates().hasSize(16);
            fixture.set(0, CacheFixture.bytes("key"), CacheFixture.bytes("value"), Item.NEVER);
            fixture.cache.swap(0, 1);
            assertThat(fixture.cache.epochs().ofDatabases().get(1)).isEqualTo(first.ofDatabases().get(0));
            assertThat(fixture.cache.epochs().ofDatabases().get(0)).isEqualTo(first.ofDatabases().get(1));
            fixture.cache.flush(1);
            assertThat(fixture.cache.epochs().ofDatabases().get(1)).isEqualTo(first.next());
            Epochs before = fixture.cache.epochs();
            fixture.set(3, CacheFixture.bytes("key"), CacheFixture.bytes("value"), Item.NEVER);
            fixture.cache.flushAll();
            List<Long> after = fixture.cache.epochs().ofDatabases();
            for (int i = 0; i < 16; i++) {
                assertThat(after.get(i)).as("full or empty").isEqualTo(before.next() + i);
            }
            boolean[] done = {false};
            fixture.set(3, CacheFixture.bytes("key"), CacheFixture.bytes("value"), Item.NEVER);
            fixture.cache.renewEpochs(() -> done[0] = true);
            assertThat(done[0]).isTrue();
            assertThat(fixture.cache.epochs().ofDatabases()).doesNotContainAnyElementsOf(after);
            assertThat(fixture.cache.size(3)).as("what memory has stays").isOne();
        }
    }

    @Test
    void epochsContinueAfterARestart() {
        List<Long> of = new ArrayList<>();
        for (long i = 0; i < 16; i++) {
            of.add(100 - i);
        }
        try (CacheFixture fixture = open()) {
            fixture.cache.resume(new Epochs(of, 1000));
            assertThat(fixture.cache.epochs()).isEqualTo(new Epochs(of, 1000));
            fixture.cache.flush(2);
            assertThat(fixture.cache.epochs().ofDatabases().get(2)).isEqualTo(1000);
            assertThatThrownBy(() -> fixture.cache.resume(new Epochs(List.of(1L), 2)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> new Epochs(of, 100)).isInstanceOf(IllegalArgumentException.class);
    }
}
