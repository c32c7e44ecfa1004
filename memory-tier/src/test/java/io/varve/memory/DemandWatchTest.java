package io.varve.memory;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.LowerTier;
import io.varve.memory.item.Ticker;
import io.varve.memory.locality.DemandSettings;
import io.varve.memory.locality.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.shard.ShardContext;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Classes that are dumped in their valleys, and woken. Confined to the test's thread. */
class DemandWatchTest {
    private static final int SLOT_MILLIS = 1000;
    private static final int PHASE = 5;
    private static final int MISSES = 10;
    private static final DemandSettings SETTINGS = new DemandSettings(SLOT_MILLIS, 60, 2, 0.5, 0.1, 0.5, MISSES);
    private static final int PERIODIC = 3;
    private static final int STEADY = 5;
    private static final int KEYS = 100;

    private final ManualTicker ticker = new ManualTicker();
    private final Below below = new Below();
    private CacheFixture fixture = open(config());

    /** A tier below that keeps what falls in a map. Confined to the test's thread. */
    private static final class Below implements LowerTier {
        /** Values by key. */
        private final Map<String, byte[]> items = new TreeMap<>();
        private final Map<String, Integer> classes = new HashMap<>();
        private final List<Integer> loads = new ArrayList<>();
        private int room = Integer.MAX_VALUE;
        private int longest = Integer.MAX_VALUE;

        @Override
        public boolean take(long epoch, long hash, Item item, int access, int penaltyClass) {
            return offer(epoch, hash, item, access, penaltyClass) == Answer.TAKEN;
        }

        @Override
        public Answer offer(long epoch, long hash, Item item, int access, int penaltyClass) {
            if (item.valueLength() > longest) {
                return Answer.NEVER;
            }
            if (items.size() >= room) {
                return Answer.LATER;
            }
            String key = new String(Memory.toArray(item.keyAddress(), item.keyLength()), UTF_8);
            assertThat(items.put(key, Memory.toArray(item.valueAddress(), item.valueLength()))).as(key).isNull();
            classes.put(key, penaltyClass);
            return Answer.TAKEN;
        }

        @Override
        public void load(int penaltyClass) {
            loads.add(penaltyClass);
        }
    }

    private CacheConfig config() {
        return CacheConfig.defaults(8 << 20).withShards(4).withSegmentSizeBytes(16 << 10).withHeads(2).withHashSeed(11)
                .withTicker(ticker).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)
                .withPenalties(new PenaltySettings(true, PenaltyRanges.MOST, 0)).withDemand(SETTINGS);
    }

    private CacheFixture open(CacheConfig config) {
        CacheFixture opened = new CacheFixture(Cache.open(config));
        opened.cache.lower(below);
        return opened;
    }

    @AfterEach
    void isSound() {
        assertThat(fixture.cache.checkIntegrity()).isEmpty();
        fixture.close();
    }

    private static String key(int penaltyClass, int number) {
        return "key " + penaltyClass + " " + number;
    }

    /** As a server does: what is below comes up before anything is done with its key. */
    private byte @Nullable [] get(String key) {
        bringUp(key);
        return fixture.get(0, CacheFixture.bytes(key));
    }

    private void set(int penaltyClass, String key, String value) {
        bringUp(key);
        fixture.session.writesInto(penaltyClass);
        fixture.set(0, CacheFixture.bytes(key), CacheFixture.bytes(value), Item.NEVER);
    }

    private void delete(String key) {
        bringUp(key);
        assertThat(fixture.delete(0, CacheFixture.bytes(key))).isTrue();
    }

    private void bringUp(String key) {
        byte[] value = below.items.remove(key);
        if (value != null) {
            assertThat(fixture.restore(0, CacheFixture.bytes(key), ItemType.STRING, 0, value, 0, Item.NEVER, 0,
                    Objects.requireNonNull(below.classes.remove(key)))).isTrue();
        }
    }

    private boolean isInMemory(String key) {
        return fixture.expireAt(0, CacheFixture.bytes(key)) != null;
    }

    private void fill() {
        for (int i = 0; i < KEYS; i++) {
            set(PERIODIC, key(PERIODIC, i), "value " + i);
            set(STEADY, key(STEADY, i), "value " + i);
        }
    }

    /** A slot in which the keys of the periodic class are asked for so often, and the others once each. */
    private void slot(int times) {
        for (int i = 0; i < KEYS; i++) {
            for (int time = 0; time < times; time++) {
                assertThat(get(key(PERIODIC, i))).isNotNull();
            }
            assertThat(get(key(STEADY, i))).isNotNull();
        }
        endSlot();
    }

    private void endSlot() {
        ticker.advanceMillis(SLOT_MILLIS);
        fixture.maintainFully();
    }

    private void slots(int count, int times) {
        for (int i = 0; i < count; i++) {
            slot(times);
        }
    }

    /** Until the slot that shows that the second valley has come. */
    private void toTheValley() {
        fill();
        slots(PHASE, 2);
        slots(PHASE, 0);
        slots(PHASE, 2);
        slot(0);
        assertThat(report().dumps()).as("the first valley, and a single slot").isZero();
        slot(0);
    }

    private DemandReport report() {
        return Objects.requireNonNull(fixture.cache.demand());
    }

    @Test
    void theSecondValleyDumpsTheClassAndNothingElse() {
        toTheValley();
        assertThat(report().slots()).isEqualTo(3 * PHASE + 2);
        assertThat(report().dumps()).isOne();
        assertThat(report().dumpedItems()).isEqualTo(KEYS);
        assertThat(report().dumping()).isFalse();
        DemandReport.OfClass told = report().classes().get(PERIODIC);
        assertThat(told.dumped()).isTrue();
        assertThat(told.periodic()).isTrue();
        assertThat(told.intervalSlots()).isEqualTo(2 * PHASE);
        assertThat(report().classes().get(STEADY).dumps()).isZero();
        assertThat(below.items).hasSize(KEYS);
        for (int i = 0; i < KEYS; i++) {
            assertThat(isInMemory(key(PERIODIC, i))).isFalse();
            assertThat(below.classes).containsEntry(key(PERIODIC, i), PERIODIC);
            assertThat(isInMemory(key(STEADY, i))).isTrue();
        }
        assertThat(fixture.cache.stats().evicted()).isZero();
        assertThat(below.loads).isEmpty();
    }

    @Test
    void aSlowSlotDumpsNothing() {
        fill();
        slots(PHASE, 2);
        slots(PHASE, 0);
        for (int i = 0; i < 20; i++) {
            slots(2, 2);
            slot(0);
        }
        assertThat(report().dumps()).isZero();
        assertThat(below.items).isEmpty();
    }

    @Test
    void whatTheTierBelowHasNoRoomForWaitsInMemory() {
        below.room = KEYS / 2;
        toTheValley();
        assertThat(below.items).hasSize(KEYS / 2);
        assertThat(report().dumping()).isTrue();
        assertThat(report().dumpedItems()).isEqualTo(KEYS / 2);
        assertThat(fixture.cache.size(0)).isEqualTo(KEYS + KEYS / 2);
        endSlot();
        assertThat(below.items).hasSize(KEYS / 2);

        below.room = KEYS - 1;
        fixture.maintainFully();
        assertThat(below.items).hasSize(KEYS - 1);
        endSlot();
        assertThat(report().dumping()).isTrue();
        below.room = KEYS;
        fixture.maintainFully();
        assertThat(below.items).hasSize(KEYS);
        assertThat(report().dumping()).isFalse();
        assertThat(report().givenUp()).isZero();
        assertThat(fixture.cache.stats().evicted()).isZero();
    }

    @Test
    void whatFindsNoRoomForAWholeSlotStays() {
        below.room = KEYS / 2;
        toTheValley();
        endSlot();
        endSlot();
        assertThat(report().dumping()).isFalse();
        assertThat(report().classes().get(PERIODIC).givenUp()).isOne();
        assertThat(report().classes().get(PERIODIC).dumped()).as("it wakes as others do").isTrue();
        below.room = KEYS;
        endSlot();
        assertThat(below.items).hasSize(KEYS / 2);
        assertThat(fixture.cache.size(0)).isEqualTo(KEYS + KEYS / 2);
        assertThat(fixture.cache.stats().evicted()).isZero();
    }

    /** A command of another thread has one of the shards in the slot that ends, and while the class falls. */
    @Test
    void aHeldShardIsLeftForLater() throws InterruptedException {
        fill();
        slots(PHASE, 2);
        slots(PHASE, 0);
        slots(PHASE, 2);
        slot(0);
        for (int i = 0; i < KEYS; i++) {
            assertThat(get(key(STEADY, i))).isNotNull();
        }
        ticker.advanceMillis(SLOT_MILLIS);
        fixture.whileHeld(2, () -> {
            for (int round = 0; round < 10; round++) {
                assertThat(fixture.cache.maintain()).isNotNegative();
            }
            assertThat(report().dumps()).isOne();
            assertThat(report().dumping()).isTrue();
            assertThat(below.items.size()).isBetween(KEYS / 2, KEYS - 1);
            for (int slot = 0; slot < 3; slot++) {
                ticker.advanceMillis(SLOT_MILLIS);
                assertThat(fixture.cache.maintain()).isNotNegative();
            }
            assertThat(report().dumping()).as("there is room for the rest, if nobody has it").isTrue();
            assertThat(report().givenUp()).isZero();
        });
        fixture.maintainFully();
        assertThat(below.items).hasSize(KEYS);
        assertThat(report().dumping()).isFalse();
    }

    @Test
    void whatIsWrittenWhileTheClassFallsIsWhatIsThere() {
        below.room = KEYS / 2;
        toTheValley();
        Map<String, String> expected = new HashMap<>();
        for (int i = 0; i < KEYS; i++) {
            expected.put(key(PERIODIC, i), "value " + i);
        }
        List<String> fallen = new ArrayList<>(below.items.keySet());
        List<String> standing = new ArrayList<>(expected.keySet());
        standing.removeAll(fallen);
        for (String key : List.of(fallen.get(0), fallen.get(1), standing.get(0), standing.get(1))) {
            set(PERIODIC, key, "new");
            expected.put(key, "new");
        }
        for (String key : List.of(fallen.get(2), fallen.get(3), standing.get(2), standing.get(3))) {
            delete(key);
            expected.remove(key);
        }
        below.room = Integer.MAX_VALUE;
        endSlot();
        assertThat(report().dumping()).isFalse();
        // What came up once the walk had passed it stays up.
        assertThat(below.items.size()).isBetween(expected.size() - 4, expected.size());
        set(PERIODIC, fallen.get(5), "newer");
        expected.put(fallen.get(5), "newer");
        for (int i = 0; i < KEYS; i++) {
            byte[] value = get(key(PERIODIC, i));
            assertThat(value == null ? null : new String(value, UTF_8)).isEqualTo(expected.get(key(PERIODIC, i)));
        }
    }

    @Test
    void whatCannotFallStays() {
        below.longest = 100;
        fixture.close();
        try (CollectionsFixture trees = new CollectionsFixture(Cache.open(config()))) {
            fixture = trees.plain;
            fixture.cache.lower(below);
            set(PERIODIC, "long", "x".repeat(101));
            fixture.session.writesInto(PERIODIC);
            trees.makeHash("tree", 2000, 100, Item.NEVER);
            toTheValley();
            assertThat(report().dumping()).isFalse();
            assertThat(below.items).hasSize(KEYS);
            assertThat(isInMemory("long")).isTrue();
            assertThat(isInMemory("tree")).isTrue();
            trees.assertSound();
        }
        fixture = open(config());
    }

    /** What pressure may not drive out might not come up again, or be let go below. */
    @ParameterizedTest
    @EnumSource(value = EvictionPolicy.class, names = {"NOEVICTION", "VOLATILE_LRU"})
    void whatThePolicyKeepsStays(EvictionPolicy policy) {
        fixture.cache.reconfigure(config().withEvictionPolicy(policy));
        toTheValley();
        assertThat(report().classes().get(PERIODIC).dumped()).isTrue();
        assertThat(report().dumping()).isFalse();
        assertThat(below.items).isEmpty();
        assertThat(fixture.cache.size(0)).isEqualTo(2 * KEYS);
    }

    @Test
    void whatHasExpiredDoesNotFall() {
        fixture.session.writesInto(PERIODIC);
        fixture.cache.reconfigure(config().withActiveExpire(false));
        long soon = ticker.wallMillis() + 5000;
        fixture.set(0, CacheFixture.bytes("brief"), CacheFixture.bytes("value"), soon);
        toTheValley();
        assertThat(below.items).hasSize(KEYS).doesNotContainKey("brief");
    }

    @Test
    void missesOneAfterTheOtherWakeIt() {
        toTheValley();
        for (int i = 0; i < MISSES - 1; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
        }
        assertThat(get(key(PERIODIC, 0))).as("a hit").isNotNull();
        for (int i = MISSES; i < 2 * MISSES - 1; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
            assertThat(get(key(STEADY, i))).as("of another class").isNotNull();
        }
        fixture.maintainFully();
        assertThat(below.loads).isEmpty();
        assertThat(report().classes().get(PERIODIC).dumped()).isTrue();

        assertThat(get(key(PERIODIC, 2 * MISSES))).isNotNull();
        fixture.maintainFully();
        assertThat(below.loads).containsExactly(PERIODIC);
        assertThat(report().wakes()).isOne();
        assertThat(report().classes().get(PERIODIC).dumped()).isFalse();
        assertThat(fixture.cache.admitLoaded(PERIODIC, 100)).isTrue();
    }

    /** What is written or deleted in a valley is no demand for the others. */
    @Test
    void writesAndDeletesDoNotWakeIt() {
        toTheValley();
        for (int i = 0; i < 2 * MISSES; i++) {
            // With a hint, and where the item's own class is kept.
            set(i % 2 == 0 ? CacheSession.AUTOMATIC : PERIODIC, key(PERIODIC, i), "new");
            delete(key(PERIODIC, 2 * MISSES + i));
        }
        fixture.maintainFully();
        assertThat(below.loads).isEmpty();
        assertThat(get(key(PERIODIC, 0))).as("where it was written").isNotNull();
        assertThat(get(key(PERIODIC, 1))).as("where it was written with a hint").isNotNull();
        for (int i = 0; i < MISSES - 1; i++) {
            assertThat(get(key(PERIODIC, 4 * MISSES + i))).isNotNull();
        }
        fixture.maintainFully();
        assertThat(below.loads).isEmpty();
        assertThat(report().classes().get(PERIODIC).dumped()).isTrue();
    }

    /** Keys that are neither in memory nor below miss too. */
    @Test
    void keysThatAreGoneWakeItAsWell() {
        toTheValley();
        below.items.clear();
        for (int i = 0; i < MISSES; i++) {
            assertThat(below.loads).isEmpty();
            assertThat(get(key(PERIODIC, i))).isNull();
            fixture.maintainFully();
        }
        assertThat(below.loads).containsExactly(PERIODIC);
    }

    @Test
    void oneThatWakesBeforeItHasFallenStaysWhereItIs() {
        below.room = KEYS / 2;
        toTheValley();
        List<String> fallen = new ArrayList<>(below.items.keySet());
        below.room = 0;
        for (String key : fallen.subList(0, MISSES)) {
            assertThat(get(key)).isNotNull();
        }
        below.room = Integer.MAX_VALUE;
        fixture.maintainFully();
        assertThat(below.loads).containsExactly(PERIODIC);
        assertThat(report().dumping()).isFalse();
        assertThat(below.items).hasSize(KEYS / 2 - MISSES);
        slots(2, 0);
        assertThat(report().dumps()).as("the valley goes on").isOne();
        slot(0);
        assertThat(report().dumps()).isEqualTo(2);
        assertThat(below.items).hasSize(KEYS);
    }

    @Test
    void aPeakWakesItWithoutMisses() {
        toTheValley();
        fixture.cache.reconfigure(config().withDemand(SETTINGS));
        assertThat(report().dumps()).as("the same settings change nothing").isOne();
        for (int i = 0; i < 3; i++) {
            for (int number = 0; number < 2 * KEYS; number++) {
                set(PERIODIC, "other " + number, "value");
            }
            endSlot();
        }
        assertThat(below.loads).containsExactly(PERIODIC);
    }

    @Test
    void switchedOffInTheMiddleItLeavesAllAsItIs() {
        long before = fixture.cache.stats().usedBytes();
        below.room = KEYS / 2;
        toTheValley();
        fixture.cache.reconfigure(config().withDemand(null));
        below.room = Integer.MAX_VALUE;
        endSlot();
        assertThat(fixture.cache.demand()).isNull();
        assertThat(below.items).hasSize(KEYS / 2);
        assertThat(fixture.cache.admitLoaded(PERIODIC, 100)).isFalse();
        for (int i = 0; i < KEYS; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
        }
        assertThat(below.loads).isEmpty();

        fixture.cache.flushAll();
        fixture.maintainFully();
        assertThat(fixture.cache.stats().usedBytes()).as("what watching took is given back").isLessThan(before);
        fixture.cache.reconfigure(config());
        assertThat(report().slots()).isZero();
        fixture.cache.reconfigure(config().withPenalties(PenaltySettings.OFF));
        assertThat(fixture.cache.demand()).isNull();
        endSlot();
    }

    /** Who changes settings may be one for whom somebody waits who has all shards. */
    @Test
    void settingsChangeWhileAShardIsHeld() throws InterruptedException {
        fixture.whileHeld(1, () -> {
            fixture.cache.reconfigure(config().withDemand(null));
            assertThat(fixture.cache.demand()).isNull();
            fixture.cache.reconfigure(config());
            assertThat(report().slots()).isZero();
            ticker.advanceMillis(SLOT_MILLIS);
            assertThat(fixture.cache.maintain()).isNotNegative();
            assertThat(report().slots()).as("no slot without one of them").isZero();
        });
        fixture.maintainFully();
        toTheValley();
        assertThat(below.items).hasSize(KEYS);
    }

    @Test
    void withoutATierBelowNothingIsWatched() {
        try (CacheFixture alone = new CacheFixture(Cache.open(config()))) {
            assertThat(alone.cache.demand()).isNull();
            alone.maintainFully();
            assertThat(alone.cache.admitLoaded(PERIODIC, 100)).isFalse();
        }
    }

    @Test
    void aLoadTakesWhatIsFreeAndNoMore() {
        toTheValley();
        assertThat(fixture.cache.admitLoaded(PERIODIC, 100)).as("while it is dumped").isFalse();
        assertThat(fixture.cache.admitLoaded(STEADY, 100)).isTrue();
        String value = "x".repeat(1000);
        int written = 0;
        while (fixture.cache.admitLoaded(STEADY, 2000)) {
            set(STEADY, "more " + written++, value);
            assertThat(written).isLessThan(10_000);
        }
        assertThat(written).isGreaterThan(5000);
        fixture.maintainFully();
        assertThat(below.items).as("nobody goes for what is loaded").hasSize(KEYS);
        assertThat(fixture.cache.hasRoom(2000)).as("nor for the next writes").isTrue();
    }

    private static double[] shares(double periodic) {
        double[] shares = new double[PenaltyRanges.MOST];
        shares[PERIODIC] = periodic;
        shares[STEADY] = 1 - periodic;
        return shares;
    }

    @Test
    void whoWakesHasTheShareThatItHadBeforeTheValley() {
        fixture.close();
        fixture = open(config().withEvictionPolicy(EvictionPolicy.ALLKEYS_PENALTY));
        ShardContext context = ((InMemoryCache) fixture.cache).context();
        context.shares(shares(0.75));
        toTheValley();
        context.shares(shares(0.25));
        endSlot();
        for (int i = 0; i < MISSES; i++) {
            assertThat(get(key(PERIODIC, i))).isNotNull();
        }
        fixture.maintainFully();
        assertThat(context.shares()).containsExactly(shares(0.75), within(1e-9));

        String value = "x".repeat(1000);
        for (int i = 0; i < 8000; i++) {
            assertThat(fixture.cache.admit(2000)).isTrue();
            set(STEADY, "more " + i, value);
        }
        assertThat(fixture.cache.admitLoaded(STEADY, 10_000)).as("over its share").isFalse();
        assertThat(fixture.cache.admitLoaded(PERIODIC, 10_000)).as("below its share").isTrue();
        context.shares(shares(0));
        for (int i = 0; i < 100; i++) {
            assertThat(fixture.cache.admit(2000)).isTrue();
            set(STEADY, "yet more " + i, value);
        }
        assertThat(fixture.cache.admitLoaded(PERIODIC, 200_000)).as("no share and nothing free").isFalse();
    }

    /** A clock that goes on with each look. Confined to the test's thread. */
    private static final class WalkingTicker implements Ticker {
        private static final long STEP_NANOS = 30_000;
        private final AtomicLong nanos = new AtomicLong(1);

        @Override
        public long wallMillis() {
            return 1_700_000_000_000L + nanos.get() / 1_000_000;
        }

        @Override
        public long nanoTime() {
            return nanos.addAndGet(STEP_NANOS);
        }
    }

    @Test
    void aDumpGivesWayAgainAndAgain() {
        WalkingTicker walking = new WalkingTicker();
        fixture.close();
        fixture = open(config().withTicker(walking));
        fill();
        int[] turns = new int[1];
        int rounds = 0;
        int before;
        int most = 0;
        for (int slot = 0; report().dumps() == 0; slot++) {
            assertThat(slot).isLessThan(4 * PHASE);
            for (int i = 0; i < KEYS && slot / PHASE % 2 == 0; i++) {
                assertThat(get(key(PERIODIC, i))).isNotNull();
                assertThat(get(key(PERIODIC, i))).isNotNull();
            }
            long slots = report().slots();
            walking.nanos.addAndGet(SLOT_MILLIS * 1_000_000L);
            while (report().slots() == slots) {
                assertThat(fixture.cache.maintain()).isNotNegative();
            }
        }
        do {
            before = below.items.size();
            turns[0] = 0;
            assertThat(fixture.cache.maintain(() -> turns[0]++)).isNotNegative();
            assertThat(turns[0]).isPositive();
            most = Math.max(most, below.items.size() - before);
            rounds++;
        } while (report().dumping() && rounds < 1000);
        assertThat(below.items).hasSize(KEYS);
        assertThat(rounds).isGreaterThan(KEYS / 10);
        assertThat(most).isBetween(1, 10);
    }
}
