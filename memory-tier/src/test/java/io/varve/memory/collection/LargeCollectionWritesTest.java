package io.varve.memory.collection;

import java.util.List;
import java.util.Map;
import java.util.Objects;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ChosenKeys;
import io.varve.memory.testing.CollectionsFixture;
import io.varve.memory.testing.ManualTicker;
import org.junit.jupiter.api.Test;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests writes to large collections that are refused, undone, or malicious. Confined to the test's thread. */
final class LargeCollectionWritesTest {
    private static final int MIB = 1 << 20;
    private static final long SEED = 7;

    private final ManualTicker ticker = new ManualTicker();

    private CollectionsFixture open(int maxMemoryBytes) {
        return new CollectionsFixture(Cache.open(CacheConfig.defaults(maxMemoryBytes).withShards(2)
                .withSegmentSizeBytes(16 << 10).withMaxOpenSegments(2).withHashSeed(SEED).withTicker(ticker)));
    }

    @Test
    void aRefusedWriteLeavesTheKeyUnchanged() {
        try (CollectionsFixture fixture = open(2 * MIB)) {
            fixture.plain.set(0, CacheFixture.bytes("key"), CacheFixture.bytes("value"), Item.NEVER);
            HashTree tree = new HashTree();
            assertThatThrownBy(() -> fixture.make("key", tree, Item.NEVER, () -> {
                for (int i = 0; i < 1_000_000; i++) {
                    fixture.put(tree, "field" + i, "x".repeat(100));
                }
            })).isInstanceOf(CacheFullException.class);
            assertThat(fixture.plain.get(0, CacheFixture.bytes("key"))).isEqualTo(CacheFixture.bytes("value"));
            fixture.assertSound();
            fixture.plain.maintainFully();
            assertThat(fixture.cache.admit(300_000)).isTrue();
            fixture.makeHash("hash", 2000, 100, Item.NEVER);
            int[] fields = {2000};
            assertThatThrownBy(() -> fixture.with("hash", tree, hash -> {
                while (true) {
                    fixture.put(hash, "field" + fields[0], "h".repeat(100));
                    fields[0]++;
                }
            })).isInstanceOf(CacheFullException.class);
            fixture.assertSound();
            fixture.assertHash("hash", fields[0], 100);
            assertThat(fields[0]).isGreaterThan(5000);
            fixture.plain.delete(0, CacheFixture.bytes("hash"));
            fixture.plain.delete(0, CacheFixture.bytes("key"));
            fixture.assertNothingLives();
        }
    }

    /** An atomic group of writes, the last of which finds no memory. */
    @Test
    void groupedWritesAreUndoneTogether() {
        try (CollectionsFixture fixture = open(2 * MIB)) {
            fixture.makeHash("hash", 3000, 50, Item.NEVER);
            Map<String, String> before = Objects.requireNonNull(fixture.hash("hash"));
            CacheFullException full = Objects.requireNonNull(fixture.with("hash", new HashTree(), hash -> {
                hash.begin();
                try {
                    for (int i = 0; i < 100_000; i++) {
                        if (i % 3 == 0) {
                            fixture.remove(hash, "field" + i / 3);
                        } else {
                            fixture.put(hash, "new" + i, "x".repeat(100));
                        }
                    }
                    hash.commit();
                    throw new AssertionError("there was room");
                } catch (CacheFullException refused) {
                    return hash.rollback(refused);
                }
            }));
            assertThat(full.bytes()).isGreaterThan(100_000);
            fixture.assertSound();
            assertThat(fixture.hash("hash")).isEqualTo(before);
            assertThat(fixture.test("hash", new HashTree(), hash -> {
                hash.begin();
                for (int i = 0; i < 500; i++) {
                    fixture.remove(hash, "field" + i);
                    fixture.put(hash, "new" + i, "h".repeat(50));
                }
                hash.commit();
                return true;
            })).isTrue();
            fixture.assertSound();
            fixture.assertHash("hash", 3000, 50);
            fixture.plain.delete(0, CacheFixture.bytes("hash"));
            fixture.assertNothingLives();
        }
    }

    /** What expires while writes have begun is none of those, and stays away when they are undone. */
    @Test
    void undo_doesNotRestoreExpiredItems() {
        try (CollectionsFixture fixture = open(8 * MIB)) {
            fixture.makeHash("hash", 1000, 20, Item.NEVER);
            String small = "";
            String large = "";
            for (int i = 0; small.isEmpty() || large.isEmpty(); i++) {
                if (fixture.areInOneShard("hash", "other" + i)) {
                    boolean first = small.isEmpty();
                    fixture.makeHash("other" + i, first ? 1 : 2000, 20, ticker.wallMillis() + 10);
                    small = first ? "other" + i : small;
                    large = first ? large : "other" + i;
                }
            }
            List<String> expiring = List.of(small, large);
            Map<String, String> before = Objects.requireNonNull(fixture.hash("hash"));
            ticker.advanceMillis(1000);
            assertThat(fixture.test("hash", new HashTree(), hash -> {
                hash.begin();
                fixture.put(hash, "new", "value");
                expiring.forEach(name -> assertThat(fixture.isThereBesides(name)).isFalse());
                fixture.remove(hash, "field1");
                return hash.rollback(CacheFullException.INSTANCE).bytes() > 0;
            })).isTrue();
            fixture.assertSound();
            assertThat(fixture.hash("hash")).isEqualTo(before);
            fixture.plain.delete(0, CacheFixture.bytes("hash"));
            fixture.assertNothingLives();
        }
    }

    /** A copy that finds no room leaves both keys as they were. */
    @Test
    void aRefusedCopyLeavesNoMemoryBehind() {
        try (CollectionsFixture fixture = open(2 * MIB)) {
            fixture.makeHash("hash", 6000, 100, Item.NEVER);
            fixture.plain.set(0, CacheFixture.bytes("to"), CacheFixture.bytes("value"), Item.NEVER);
            assertThatThrownBy(() -> {
                for (int i = 0; i < 5; i++) {
                    assertThat(fixture.transfer("hash", i < 3 ? "copy" + i : "to", 0, false)).isTrue();
                }
            }).isInstanceOf(CacheFullException.class);
            fixture.assertSound();
            fixture.assertHash("hash", 6000, 100);
            assertThat(fixture.plain.get(0, CacheFixture.bytes("to"))).isEqualTo(CacheFixture.bytes("value"));
            fixture.cache.flushAll();
            fixture.assertNothingLives();
        }
    }

    /** Whatever ends writes that are one before their end, nothing of them stays, and the next ones may begin. */
    @Test
    void anExceptionUndoesGroupedWrites() {
        try (CollectionsFixture fixture = open(2 * MIB)) {
            fixture.makeHash("hash", 1000, 50, Item.NEVER);
            Map<String, String> before = Objects.requireNonNull(fixture.hash("hash"));
            assertThatThrownBy(() -> fixture.test("hash", new HashTree(), hash -> {
                hash.atomically(() -> {
                    for (int i = 0; i < 100; i++) {
                        fixture.remove(hash, "field" + i);
                        fixture.put(hash, "new" + i, "x".repeat(100));
                    }
                    throw new UnsupportedOperationException("in the middle");
                });
                return true;
            })).isInstanceOf(UnsupportedOperationException.class);
            fixture.assertSound();
            assertThat(fixture.hash("hash")).isEqualTo(before);
            assertThatThrownBy(() -> fixture.test("hash", new HashTree(), hash -> {
                hash.atomically(() -> {
                    for (int i = 0; i < 100_000; i++) {
                        fixture.put(hash, "new" + i, "x".repeat(100));
                    }
                });
                return true;
            })).isInstanceOf(CacheFullException.class);
            fixture.assertSound();
            assertThat(fixture.hash("hash")).isEqualTo(before);
            assertThat(fixture.test("hash", new HashTree(), hash -> {
                hash.atomically(() -> fixture.put(hash, "one more", "h".repeat(50)));
                return true;
            })).isTrue();
            fixture.assertHash("hash", 1001, 50);
            fixture.assertSound();
        }
    }

    /** Only one collection of a shard is written to between begin and keep: others would be undone with it. */
    @Test
    void groupedWrites_allowNoOtherCollectionOfTheShard() {
        try (CollectionsFixture fixture = open(2 * MIB)) {
            fixture.makeHash("hash", 200, 10, Item.NEVER);
            Map<String, String> before = Objects.requireNonNull(fixture.hash("hash"));
            assertThatThrownBy(() -> fixture.test("hash", new HashTree(), hash -> {
                hash.atomically(() -> {
                    fixture.put(hash, "new", "value");
                    fixture.makeHash("hash", 1, 1, Item.NEVER);
                });
                return true;
            })).isInstanceOf(IllegalStateException.class);
            fixture.assertSound();
            assertThat(fixture.hash("hash")).isEqualTo(before);
        }
    }

    /**
     * Members whose hashes would be equal, were they hashed as keys are, by somebody who knows the seed: they are told
     * apart all the same, so none of them is looked for among all.
     */
    @Test
    void chosenMembersHaveDifferentHashes() {
        int members = 2000;
        try (CollectionsFixture fixture = open(8 * MIB)) {
            SetTree tree = new SetTree();
            fixture.make("set", tree, Item.NEVER, () -> {
                for (int i = 0; i < members; i++) {
                    fixture.add(tree, new String(ChosenKeys.ofEqualHash(SEED, i), ISO_8859_1));
                }
            });
            int[] visited = {0};
            int[] max = {0};
            assertThat(fixture.test("set", tree, set -> {
                long cursor = 0;
                int[] now = {0};
                do {
                    now[0] = 0;
                    cursor = set.scan(cursor, 10, () -> now[0]++);
                    max[0] = Math.max(max[0], now[0]);
                    visited[0] += now[0];
                } while (cursor != 0);
                return true;
            })).isTrue();
            assertThat(visited[0]).isEqualTo(members);
            assertThat(max[0]).isLessThan(20);
        }
    }

    /**
     * Where there is room for all of it, nothing is copied in order to be undone: what is written is about what is put.
     */
    @Test
    void groupedWritesLeaveLittleGarbage() {
        try (CollectionsFixture fixture = open(64 * MIB)) {
            fixture.makeHash("hash", 20_000, 20, Item.NEVER);
            long before = fixture.cache.stats().usedBytes();
            for (int part = 0; part < 200; part++) {
                int from = part * 50;
                assertThat(fixture.test("hash", new HashTree(), hash -> {
                    hash.atomically(50, 100, () -> {
                        for (int i = from; i < from + 50; i++) {
                            fixture.put(hash, "new" + i, "x".repeat(20));
                        }
                    });
                    return true;
                })).isTrue();
            }
            fixture.assertSound();
            assertThat(Objects.requireNonNull(fixture.hash("hash"))).hasSize(30_000);
            assertThat(fixture.cache.stats().usedBytes() - before).isLessThan(10_000L * 300);
            fixture.plain.delete(0, CacheFixture.bytes("hash"));
            fixture.assertNothingLives();
        }
    }

    /** Where there may be too little room, they are undone together all the same, and those that fit stay. */
    @Test
    void groupedWritesAreUndoneTogetherIfMemoryIsShort() {
        try (CollectionsFixture fixture = open(2 * MIB)) {
            fixture.makeHash("hash", 1000, 50, Item.NEVER);
            int fields = 1000;
            boolean fits = true;
            while (fits) {
                int from = fields;
                Map<String, String> before = Objects.requireNonNull(fixture.hash("hash"));
                try {
                    fits = fixture.test("hash", new HashTree(), hash -> {
                        hash.atomically(40, 100, () -> {
                            for (int i = from; i < from + 40; i++) {
                                fixture.put(hash, "field" + i, "h".repeat(50));
                            }
                        });
                        return true;
                    });
                    fields += 40;
                } catch (CacheFullException full) {
                    fits = false;
                    assertThat(fixture.hash("hash")).isEqualTo(before);
                }
                fixture.assertSound();
            }
            fixture.assertHash("hash", fields, 50);
            assertThat(fields).isGreaterThan(5000);
            fixture.plain.delete(0, CacheFixture.bytes("hash"));
            fixture.assertNothingLives();
        }
    }
}
