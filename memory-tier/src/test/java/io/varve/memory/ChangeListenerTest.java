package io.varve.memory;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the notification of change listeners, also for changes of whole databases. */
class ChangeListenerTest {
    private final List<String> events = new ArrayList<>();
    private final ChangeListener listener = new ChangeListener() {
        @Override
        public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
            events.add(change + " " + database + " "
                    + new String(Memory.toArray(keyAddress, keyLength), StandardCharsets.UTF_8));
        }

        @Override
        public void created(int database, long keyAddress, int keyLength) {
            events.add("created " + database + " "
                    + new String(Memory.toArray(keyAddress, keyLength), StandardCharsets.UTF_8));
        }

        @Override
        public boolean hearsMisses() {
            return true;
        }

        @Override
        public void missed(int database, long keyAddress, int keyLength) {
            events.add("missed " + database + " "
                    + new String(Memory.toArray(keyAddress, keyLength), StandardCharsets.UTF_8));
        }

        @Override
        public void flushed(int database) {
            events.add("flushed " + database);
        }

        @Override
        public void swapped(int first, int second, Presence presence) {
            byte[] key = CacheFixture.bytes("a");
            events.add("swapped " + first + " " + second + " " + presence.exists(first, key)
                    + " " + presence.exists(second, key));
        }
    };

    private List<String> take() {
        List<String> taken = List.copyOf(events);
        events.clear();
        return taken;
    }

    @Test
    void databaseEventsAreSentOnce() {
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
    void createdAndMissedKeysAreReported() {
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

    /** A listener fails at each notification: the removed item is gone regardless, and its memory is released. */
    @Test
    void removedItemsAreFreedEvenIfAListenerFails() {
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
    void anUnsubscribedListenerIsNotNotified() {
        List<String> others = new ArrayList<>();
        try (CacheFixture fixture = new CacheFixture(
                Cache.open(CacheConfig.defaults(4 << 20).withShards(2).withSegmentSizeBytes(4096)))) {
            fixture.cache.subscribe(listener);
            fixture.cache.subscribe((change, _, _, _, _, _) -> others.add(change.name()));
            fixture.cache.unsubscribe(listener);
            fixture.set(0, CacheFixture.bytes("a"), CacheFixture.bytes("1"), Item.NEVER);
            assertThat(events).isEmpty();
            assertThat(others).containsExactly("SET");
        }
    }
}
