package io.varve.flash.tier;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.flash.store.CrashingStore;
import io.varve.memory.PointInTimeScan;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemCapture;
import io.varve.memory.item.Key;
import io.varve.memory.item.StoredItem;
import io.varve.memory.offheap.Memory;
import io.varve.testing.TestBudget;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Random writes over a small memory and flash between the steps of point-in-time scans, whose results are compared with
 * the model's copy of the moment at which they began. Confined to the test's thread, except the tier's own.
 */
class FlashCaptureModelTest {
    private static final int SCANS = TestBudget.ofInt("varve.model.scans", 12, 300);
    /** Twice as many as fit into memory. */
    private static final int NAMES = 2000;
    private static final int STEP = 40;
    /** No item is lost. */
    private static final FlashTierSettings AMPLE = FlashTierSettings.of(100_000).withQueueBytes(1L << 30);

    @TempDir
    Path directory;

    private final CrashingStore device = new CrashingStore();
    private final Map<String, String> model = new HashMap<>();
    private final Map<String, String> captured = new ConcurrentHashMap<>();
    private final List<CompletableFuture<List<Fetch.Outcome>>> fetches = new ArrayList<>();

    /** Passes each captured item to {@link #captured}. */
    private final ItemCapture target = new ItemCapture() {
        @Override
        public void begins(long startMillis) {
            captured.clear();
        }

        @Override
        public void capture(int database, Key key, Item item) {
            add(database, Memory.toArray(item.keyAddress(), item.keyLength()),
                    new String(Memory.toArray(item.valueAddress(), item.valueLength()), UTF_8));
        }

        @Override
        public void capture(int database, StoredItem item) {
            add(database, item.key(), new String(item.value(), item.from(), item.valueLength(), UTF_8));
        }

        private void add(int database, byte[] key, String value) {
            String name = database + "/" + new String(key, UTF_8);
            String before = captured.put(name, value);
            if (before != null) {
                captured.put(name, "captured twice: " + before + " and " + value);
            }
        }

        @Override
        public void failed(Throwable reason) {
            captured.put("failed", reason.toString());
        }
    };

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void interruptedScans_visitTheItemsOfBothTiersAsTheyWereAtTheStart(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long promotedDuringScans = 0;
        long writtenDuringScans = 0;
        try (TierFixture tier = new TierFixture(directory, _ -> device, AMPLE)) {
            for (int i = 0; i < NAMES; i++) {
                write(tier, random, i);
            }
            for (int scan = 0; scan < SCANS; scan++) {
                run(tier, random, random.nextInt(10 * STEP));
                // Items are on their way between the tiers when the scan begins.
                fetch(tier, random, random.nextInt(50));
                Map<String, String> start = new HashMap<>(model);
                FlashTierStats before = tier.tier.stats();
                try (PointInTimeScan walk = tier.cache.scanAtOneMoment(target)) {
                    int steps = 1 + random.nextInt(30);
                    boolean more = true;
                    while (more) {
                        for (int i = 0; more && i < steps; i++) {
                            more = walk.scan(0);
                        }
                        run(tier, random, random.nextInt(STEP));
                        fetch(tier, random, random.nextInt(5));
                        if (random.nextInt(20) == 0) {
                            swap(tier, random.nextInt(TierFixture.DATABASES), random.nextInt(TierFixture.DATABASES));
                        }
                    }
                    assertThat(walk.isAborted()).isFalse();
                    run(tier, random, STEP);
                }
                FlashTierStats after = tier.tier.stats();
                promotedDuringScans += after.promotions() - before.promotions();
                writtenDuringScans += after.written() - before.written();
                fetches.forEach(TierFixture::join);
                fetches.clear();
                assertThat(captured).as("seed %s, scan %s", seed, scan).isEqualTo(start);
            }
            assertThat(tier.tier.stats().shed() + tier.tier.stats().evictions()).isZero();
            assertThat(promotedDuringScans).isGreaterThan(100);
            assertThat(writtenDuringScans).isGreaterThan(100);
            assertThat(tier.problems()).isEmpty();
        }
    }

    /** Requests keys and does not wait for them. */
    private void fetch(TierFixture tier, SplittableRandom random, int count) {
        for (int i = 0; i < count; i++) {
            fetches.add(tier.fetch(random.nextInt(TierFixture.DATABASES), "key" + random.nextInt(NAMES), 1));
        }
    }

    private void swap(TierFixture tier, int first, int second) {
        TierFixture.join(tier.tier.swap(first, second));
        Map<String, String> swapped = new HashMap<>();
        model.forEach((name, value) -> {
            int database = name.charAt(0) - '0';
            int now = database == first ? second : database == second ? first : database;
            swapped.put(now + name.substring(1), value);
        });
        model.clear();
        model.putAll(swapped);
    }

    private void run(TierFixture tier, SplittableRandom random, int commands) {
        for (int i = 0; i < commands; i++) {
            int number = random.nextInt(NAMES);
            int database = number % TierFixture.DATABASES;
            switch (random.nextInt(4)) {
                case 0 -> assertThat(tier.delete(database, "key" + number))
                        .isEqualTo(model.remove(database + "/key" + number) != null);
                case 1 ->
                    assertThat(tier.get(database, "key" + number)).isEqualTo(model.get(database + "/key" + number));
                default -> write(tier, random, number);
            }
        }
    }

    private void write(TierFixture tier, SplittableRandom random, int number) {
        int database = number % TierFixture.DATABASES;
        String value = random.nextInt() + "x".repeat(700 + random.nextInt(600));
        tier.set(database, "key" + number, value);
        model.put(database + "/key" + number, value);
    }

    @Test
    void aFlushOfADatabaseWithItemsOnFlash_abortsTheScan() {
        try (TierFixture tier = new TierFixture(directory, _ -> device, AMPLE)) {
            tier.set(1, "demoted", "value");
            tier.demoteOthers(0, "key");
            tier.settle();
            try (PointInTimeScan walk = tier.cache.scanAtOneMoment(target)) {
                assertThat(walk.size(1)).isEqualTo(1);
                TierFixture.join(tier.tier.flush(2));
                assertThat(walk.isAborted()).as("a database without items").isFalse();
                TierFixture.join(tier.tier.flush(1));
                assertThat(walk.isAborted()).isTrue();
                assertThat(walk.scan(0)).isFalse();
            }
        }
    }

    @Test
    void expiredItemsOnFlash_areNotVisited() {
        AtomicLong millis = new AtomicLong(1_700_000_000_000L);
        try (TierFixture tier = TierFixture.at(millis, directory, _ -> device, AMPLE)) {
            tier.set(1, "expires", "value", millis.get() + 500);
            tier.set(1, "stays", "value", millis.get() + 1_000_000);
            tier.demoteOthers(0, "key");
            tier.settle();
            millis.addAndGet(501);
            assertThat(tier.tier.stats().expired()).isZero();
            try (PointInTimeScan walk = tier.cache.scanAtOneMoment(target)) {
                boolean more;
                do {
                    more = walk.scan(Long.MAX_VALUE / 2);
                } while (more);
            }
            assertThat(captured).containsKey("1/stays").doesNotContainKey("1/expires");
        }
    }
}
