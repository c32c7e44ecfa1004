package io.varve.memory;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.Key;
import io.varve.memory.item.StoredItem;
import io.varve.memory.offheap.Memory;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Random writes between the steps of point-in-time scans, whose results are compared with the model's copy of the
 * moment at which they began.
 */
final class PointInTimeScanModelTest {
    private static final int SCANS = TestBudget.ofInt("varve.model.scans", 20, 500);
    private static final int DATABASES = 3;

    private final ManualTicker ticker = new ManualTicker();
    private final CacheFixture store = new CacheFixture(Cache.open(CacheConfig.defaults(16 << 20)
            .withDatabases(DATABASES).withShards(4).withSegmentSizeBytes(4096).withTicker(ticker)));
    private final Map<String, String> model = new HashMap<>();
    private final Map<String, String> captured = new HashMap<>();

    @AfterEach
    void close() {
        assertThat(store.cache.checkIntegrity()).isEmpty();
        store.close();
    }

    /** Passes each captured item to {@link #captured}. */
    private final ItemCapture target = new ItemCapture() {
        @Override
        public void begins(long startMillis) {
            assertThat(startMillis).isEqualTo(ticker.wallMillis());
        }

        @Override
        public void capture(int database, Key key, Item item) {
            captured(database, key, item);
        }

        @Override
        public void capture(int database, StoredItem item) {
            throw new AssertionError("there is no secondary tier");
        }

        @Override
        public void failed(Throwable reason) {
            throw new AssertionError(reason);
        }
    };

    private void captured(int database, Key key, Item item) {
        String name = database + "/" + new String(Memory.toArray(item.keyAddress(), item.keyLength()), UTF_8);
        Item found = new Item();
        assertThat(store.session.peek(key, found)).as("lookup of %s", name).isTrue();
        assertThat(found.address()).isEqualTo(item.address());
        String value = new String(Memory.toArray(item.valueAddress(), item.valueLength()), UTF_8) + " "
                + item.expireAtMillis();
        assertThat(captured.put(name, value)).as("an earlier visit of %s", name).isNull();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void interruptedScans_visitWhatWasThereAtTheStart(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int scan = 0; scan < SCANS; scan++) {
            // The number of keys changes by orders of magnitude, so that tables double and halve during scans.
            int names = 1 << random.nextInt(12);
            boolean grows = random.nextBoolean();
            write(random, names, grows, random.nextInt(2 * names));
            Map<String, String> start = new HashMap<>(model);
            captured.clear();
            try (PointInTimeScan walk = store.cache.scanAtOneMoment(target)) {
                assertThat(walk.startMillis()).isEqualTo(ticker.wallMillis());
                long size = 0;
                for (int i = 0; i < DATABASES; i++) {
                    size += walk.size(i);
                }
                assertThat(size).isGreaterThanOrEqualTo(start.size());
                int writes = random.nextInt(1, 200);
                do {
                    write(random, random.nextBoolean() ? names : 4096, random.nextBoolean(), random.nextInt(writes));
                    if (random.nextInt(50) == 0) {
                        swap(random.nextInt(DATABASES), random.nextInt(DATABASES));
                    }
                    if (random.nextInt(10) == 0) {
                        store.cache.maintain();
                    }
                } while (isLeft(walk, random.nextInt(1, 400)));
                assertThat(walk.isAborted()).isFalse();
                write(random, names, grows, 50);
            }
            assertThat(captured).as("seed %s, scan %s", seed, scan).isEqualTo(start);
        }
    }

    /** Visits so many index buckets. */
    private static boolean isLeft(PointInTimeScan walk, int steps) {
        boolean more = true;
        for (int i = 0; more && i < steps; i++) {
            more = walk.scan(0);
        }
        return more;
    }

    /** A swap exchanges the names of the model's keys, too. */
    private void swap(int first, int second) {
        store.cache.swap(first, second);
        Map<String, String> swapped = new HashMap<>();
        model.forEach((name, value) -> {
            int database = name.charAt(0) - '0';
            int now = database == first ? second : database == second ? first : database;
            swapped.put(now + name.substring(1), value);
        });
        model.clear();
        model.putAll(swapped);
    }

    private void write(SplittableRandom random, int names, boolean grows, int writes) {
        for (int i = 0; i < writes; i++) {
            int database = Math.max(0, random.nextInt(DATABASES + 3) - 3);
            String name = "key" + random.nextInt(names);
            int action = random.nextInt(10);
            if (action < (grows ? 7 : 2)) {
                String value = Integer.toString(random.nextInt()).repeat(random.nextInt(1, random.nextInt(1, 20) + 1));
                long expireAt = random.nextInt(3) == 0 ? ticker.wallMillis() + 1_000_000 : Item.NEVER;
                store.set(database, name.getBytes(UTF_8), value.getBytes(UTF_8), expireAt);
                model.put(database + "/" + name, value + " " + expireAt);
            } else if (action < 8) {
                assertThat(store.delete(database, name.getBytes(UTF_8)))
                        .isEqualTo(model.remove(database + "/" + name) != null);
            } else {
                edit(database, name);
            }
        }
    }

    /** Writes into an item's bytes, as commands such as SETRANGE do. */
    private void edit(int database, String name) {
        store.now();
        Key key = store.bind(database, name.getBytes(UTF_8));
        store.session.lock(key);
        try {
            if (store.session.findForWriting(key, store.item)) {
                Memory.putByte(store.item.valueAddress(), (byte) 'x');
                store.session.changed(key, io.varve.memory.item.Change.SET);
                model.compute(database + "/" + name, (_, value) -> "x" + String.valueOf(value).substring(1));
            }
        } finally {
            store.session.unlock(key);
        }
    }

    @Test
    void flushDuringAScan_abortsIt() {
        for (int i = 0; i < 1000; i++) {
            store.set(0, ("key" + i).getBytes(UTF_8), "value".getBytes(UTF_8), Item.NEVER);
        }
        try (PointInTimeScan walk = store.cache.scanAtOneMoment(target)) {
            assertThat(walk.scan(0)).isTrue();
            store.cache.flush(1);
            assertThat(walk.isAborted()).as("after a flush of an empty database").isFalse();
            store.cache.flush(0);
            assertThat(walk.isAborted()).isTrue();
            assertThat(walk.scan(Long.MAX_VALUE / 2)).isFalse();
        }
        store.set(0, "after".getBytes(UTF_8), "value".getBytes(UTF_8), Item.NEVER);
        captured.clear();
        try (PointInTimeScan walk = store.cache.scanAtOneMoment(target)) {
            while (walk.scan(1_000)) {
                assertThat(walk.isAborted()).isFalse();
            }
        }
        assertThat(captured).containsOnlyKeys("0/after");
    }

    @Test
    void secondScanAtATime_isRefused() {
        try (PointInTimeScan first = store.cache.scanAtOneMoment(target)) {
            assertThatThrownBy(() -> store.cache.scanAtOneMoment(target))
                    .isInstanceOf(IllegalStateException.class);
            assertThat(first.isAborted()).isFalse();
        }
        store.cache.scanAtOneMoment(target).close();
    }

    @Test
    void itemsThatExpireDuringAScan_mayBeMissing_butNotThoseThatHadExpiredBefore() {
        store.set(0, "expired".getBytes(UTF_8), "1".getBytes(UTF_8), ticker.wallMillis() + 10);
        store.set(0, "living".getBytes(UTF_8), "2".getBytes(UTF_8), ticker.wallMillis() + 2000);
        ticker.advanceMillis(11);
        try (PointInTimeScan walk = store.cache.scanAtOneMoment(target)) {
            ticker.advanceMillis(2000);
            while (walk.scan(1_000)) {
                assertThat(walk.isAborted()).isFalse();
            }
        }
        assertThat(captured).containsOnlyKeys("0/living");
    }
}
