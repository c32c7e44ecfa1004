package io.varve.memory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Who listens to changes, and what of those that touch whole databases at once. */
class ChangeListenerTest {
    private final List<String> told = new ArrayList<>();
    private final ChangeListener listener = new ChangeListener() {
        @Override
        public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
            told.add(change + " " + database + " "
                    + new String(Memory.toArray(keyAddress, keyLength), StandardCharsets.UTF_8));
        }

        @Override
        public void created(int database, long keyAddress, int keyLength) {
            told.add("created " + database + " "
                    + new String(Memory.toArray(keyAddress, keyLength), StandardCharsets.UTF_8));
        }

        @Override
        public void missed(int database, long keyAddress, int keyLength) {
            told.add("missed " + database + " "
                    + new String(Memory.toArray(keyAddress, keyLength), StandardCharsets.UTF_8));
        }

        @Override
        public void flushed(int database) {
            told.add("flushed " + database);
        }

        @Override
        public void swapped(int first, int second, Presence presence) {
            byte[] key = CacheFixture.bytes("a");
            told.add("swapped " + first + " " + second + " " + presence.isThere(first, key)
                    + " " + presence.isThere(second, key));
        }
    };

    private List<String> take() {
        List<String> taken = List.copyOf(told);
        told.clear();
        return taken;
    }

    @Test
    void whatTouchesADatabaseIsToldOnce() {
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(4 << 20).withDatabases(3).withShards(2).withSegmentSizeBytes(4096)))) {
            fixture.cache.subscribe(listener);
            fixture.set(1, CacheFixture.bytes("a"), CacheFixture.bytes("1"), Item.NEVER);
            fixture.set(1, CacheFixture.bytes("b"), CacheFixture.bytes("2"), Item.NEVER);
            assertThat(take()).containsExactly("created 1 a", "SET 1 a", "created 1 b", "SET 1 b");
            fixture.cache.swap(1, 2);
            fixture.cache.swap(1, 1);
            assertThat(take()).containsExactly("swapped 1 2 false true");
            fixture.cache.flush(2);
            assertThat(take()).containsExactly("flushed 2");
            fixture.cache.flushAll();
            assertThat(take()).containsExactly("flushed 0", "flushed 1", "flushed 2");
            fixture.cache.renewEpochs(() -> {});
            assertThat(take()).containsExactly("flushed 0", "flushed 1", "flushed 2");
        }
    }

    @Test
    void whatComesAndWhatIsMissedIsTold() {
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(4 << 20).withShards(2).withSegmentSizeBytes(4096)))) {
            fixture.cache.subscribe(listener);
            fixture.get(0, CacheFixture.bytes("a"));
            fixture.set(0, CacheFixture.bytes("a"), CacheFixture.bytes("1"), Item.NEVER);
            fixture.set(0, CacheFixture.bytes("a"), CacheFixture.bytes("22"), Item.NEVER);
            fixture.get(0, CacheFixture.bytes("a"));
            assertThat(take()).containsExactly("missed 0 a", "created 0 a", "SET 0 a", "SET 0 a");
        }
    }

    /** Whoever is told fails: what was let go of is gone all the same, and its memory is given back. */
    @Test
    void whatIsLetGoOfIsGoneWhoeverFails() {
        long soon = System.currentTimeMillis() + 1000;
        try (CacheFixture fixture = new CacheFixture(Cache.open(CacheConfig.defaults(1 << 20).withShards(2)
                .withSegmentSizeBytes(4096).withEvictionPolicy(EvictionPolicy.ALLKEYS_RANDOM)))) {
            boolean[] fails = {true};
            int[] failed = {0};
            fixture.cache.subscribe((change, _, _, _, _, _) -> {
                if (fails[0] && change != Change.SET && ++failed[0] % 10 == 0) {
                    throw new IllegalStateException("for the test");
                }
            });
            for (int i = 0; i < 5000; i++) {
                try {
                    assertThat(fixture.cache.admit(500)).isTrue();
                } catch (IllegalStateException expected) {
                    continue;
                }
                fixture.set(0, CacheFixture.bytes("key " + i), CacheFixture.bytes("x".repeat(i % 900)),
                        i % 3 == 0 ? soon : Item.NEVER);
            }
            assertThat(failed[0]).isPositive();
            fails[0] = false;
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
            fixture.cache.flushAll();
            assertThat(fixture.cache.admit(500)).isTrue();
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }

    @Test
    void whoHasLeftIsToldNoMore() {
        List<String> others = new ArrayList<>();
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(4 << 20).withShards(2).withSegmentSizeBytes(4096)))) {
            fixture.cache.subscribe(listener);
            fixture.cache.subscribe((change, _, _, _, _, _) -> others.add(change.name()));
            fixture.cache.unsubscribe(listener);
            fixture.set(0, CacheFixture.bytes("a"), CacheFixture.bytes("1"), Item.NEVER);
            assertThat(told).isEmpty();
            assertThat(others).containsExactly("SET");
        }
    }
}
