package io.varve.server.tracking;

import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.offheap.Memory;
import io.varve.server.pubsub.Channels;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.testing.StubCache;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests the table of keys and clients, its memory, and its counters. Confined to the test's thread. */
class TrackedKeysTest {
    private static final TrackingOptions PLAIN = new TrackingOptions(0, false, false, false, false, List.of());
    private static final int OPERATIONS = 30_000;
    private static final int MANY = 20_000;

    private final Arena arena = Arena.ofConfined();
    private final long text = arena.allocate(64).address();
    private final RequestHeapBudget memory = new RequestHeapBudget(64 << 20);
    private final Cache cache = StubCache.create(CacheConfig.defaults(1 << 20));
    private final Tracking tracking = new Tracking(cache, memory, _ -> null, 0);
    private final Subscriptions client = new Subscriptions(new Channels(memory, memory, () -> 0, memory), () -> {});
    private final TrackedKeys keys = new TrackedKeys(memory);

    @AfterEach
    void nothingStays() {
        keys.clear();
        assertThat(keys.keyCount()).isZero();
        assertThat(keys.itemCount()).isZero();
        assertThat(memory.reservedBytes()).isZero();
        arena.close();
    }

    private Tracker tracker() {
        return new Tracker(tracking, client, PLAIN);
    }

    /** @return its length */
    private int write(String key) {
        byte[] bytes = key.getBytes(StandardCharsets.US_ASCII);
        Memory.copy(bytes, 0, text, bytes.length);
        return bytes.length;
    }

    private boolean add(String key, Tracker tracker) {
        return keys.add(text, write(key), tracker);
    }

    private Set<Tracker> remove(String key) {
        TrackingClients trackingClients = keys.remove(text, write(key));
        Set<Tracker> who = new HashSet<>();
        if (trackingClients != null) {
            trackingClients.forEach(tracker -> assertThat(who.add(tracker)).isTrue());
            assertThat(trackingClients.size()).isEqualTo(who.size());
        }
        return who;
    }

    @Test
    void trackedKeysMatchAMap() {
        long seed = TestBudget.seed("varve.test.seed");
        SplittableRandom random = new SplittableRandom(seed);
        Map<String, Set<Tracker>> model = new HashMap<>();
        List<Tracker> trackers = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            trackers.add(tracker());
        }
        for (int i = 0; i < OPERATIONS; i++) {
            // The first are read by everybody, the others by few.
            String key = "key" + (random.nextBoolean() ? random.nextInt(4) : random.nextInt(2000));
            switch (random.nextInt(1000)) {
                case 0 -> {
                    keys.clear();
                    model.clear();
                }
                case 1, 2, 3, 4, 5, 6, 7, 8 -> {
                    Tracker gone = trackers.set(random.nextInt(trackers.size()), tracker());
                    gone.end();
                    keys.requestSweep();
                    for (int j = 0; j < 20_000; j += 500) {
                        keys.sweep(500);
                    }
                    model.values().forEach(who -> who.remove(gone));
                    model.values().removeIf(Set::isEmpty);
                }
                case 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19 -> {
                    boolean isAny = !model.isEmpty();
                    assertThat(keys.evict((name, who) -> {
                        Set<Tracker> evicted = new HashSet<>();
                        who.forEach(evicted::add);
                        assertThat(model.remove(name.toString())).isEqualTo(evicted);
                    })).isEqualTo(isAny);
                }
                case 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40 ->
                    assertThat(remove(key)).isEqualTo(
                            model.getOrDefault(key, Set.of()).isEmpty() ? Set.of() : model.remove(key));
                default -> {
                    Tracker tracker = trackers.get(random.nextInt(trackers.size()));
                    assertThat(add(key, tracker)).isTrue();
                    model.computeIfAbsent(key, _ -> new HashSet<>()).add(tracker);
                }
            }
            assertThat(keys.keyCount()).isEqualTo(model.size());
            assertThat(keys.itemCount()).isEqualTo(model.values().stream().mapToInt(Set::size).sum());
        }
        for (Map.Entry<String, Set<Tracker>> entry : model.entrySet()) {
            assertThat(remove(entry.getKey())).as(entry.getKey()).isEqualTo(entry.getValue());
        }
        assertThat(memory.reservedBytes()).isZero();
    }

    /** If the readers were copied, it would be many gigabytes. */
    @Test
    void oneMoreReaderOfAKeyCostsTheSameHoweverManyThereAre() {
        List<Tracker> trackers = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            trackers.add(tracker());
        }
        write("k");
        com.sun.management.ThreadMXBean thread = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = thread.getCurrentThreadAllocatedBytes();
        for (Tracker each : trackers) {
            keys.add(text, 1, each);
        }
        assertThat(thread.getCurrentThreadAllocatedBytes() - before).isLessThan(1000L * MANY);
        assertThat(keys.itemCount()).isEqualTo(MANY);
        assertThat(remove("k")).hasSize(MANY);
    }

    @Test
    void aRefusedKeyIsNotCounted() {
        RequestHeapBudget little = new RequestHeapBudget(1000);
        TrackedKeys few = new TrackedKeys(little);
        int items = 0;
        int names = 0;
        for (; few.add(text, write("k" + names), tracker()); names++) {
            items++;
        }
        while (few.add(text, write("k0"), tracker())) {
            items++;
        }
        long taken = little.reservedBytes();
        assertThat(names).isPositive();
        assertThat(items).isGreaterThan(names);
        assertThat(few.add(text, write("k" + names), tracker())).isFalse();
        assertThat(few.itemCount()).isEqualTo(items);
        assertThat(few.keyCount()).isEqualTo(names);
        assertThat(little.reservedBytes()).isEqualTo(taken);
        few.clear();
        assertThat(little.reservedBytes()).isZero();
    }

    @Test
    void theTablesShrinkWithWhatIsInThem() {
        Tracker tracker = tracker();
        for (int i = 0; i < MANY; i++) {
            add("key" + i, tracker);
        }
        assertThat(keys.tableKeys()).isEqualTo(MANY);
        for (int i = 1; i < MANY; i++) {
            remove("key" + i);
        }
        assertThat(keys.keyCount()).isOne();
        assertThat(keys.tableKeys()).isLessThan(MANY);
        for (int i = 0; i < MANY; i++) {
            add("key" + i, tracker);
        }
        tracker.end();
        keys.requestSweep();
        while (keys.keyCount() > 0) {
            keys.sweep(100);
        }
        assertThat(keys.tableKeys()).isLessThan(MANY);
    }

    /** Each removed key may be invalidated; the others stay tracked. */
    @Test
    void theOldestKeysAreRemovedFirst() {
        Tracker tracker = tracker();
        for (int i = 0; i < MANY; i++) {
            add("key" + i, tracker);
        }
        Set<String> evicted = new HashSet<>();
        for (int i = 0; i < MANY / 2; i++) {
            assertThat(keys.evict((name, _) -> evicted.add(name.toString()))).isTrue();
        }
        assertThat(evicted).hasSize(MANY / 2);
        long old = evicted.stream().filter(name -> Integer.parseInt(name.substring(3)) < MANY / 2).count();
        assertThat(old).isGreaterThan(MANY * 4L / 10);
    }
}
