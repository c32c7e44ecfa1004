package io.varve.memory.learning;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.varve.memory.Cache;
import io.varve.memory.config.CacheConfig;
import io.varve.memory.config.PenaltySettings;
import io.varve.memory.eviction.EvictionPolicy;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.SecondaryTier;
import io.varve.memory.locality.demand.DemandSettings;
import io.varve.memory.locality.partition.PenaltyRanges;
import io.varve.memory.offheap.Memory;
import io.varve.memory.report.DemandReport;
import io.varve.memory.testing.CacheFixture;
import io.varve.memory.testing.ManualTicker;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The base of tests of a cache with two classes of keys, one of which has valleys, above a secondary tier. Confined to
 * the test's thread.
 */
public abstract class ValleyHarness {
    public static final int SLOT_MILLIS = 1000;
    public static final int PHASE = 5;
    public static final int MISSES = 10;
    static final DemandSettings SETTINGS = new DemandSettings(SLOT_MILLIS, 60, 2, 0.5, 0.1, 0.5, MISSES);
    public static final int PERIODIC = 3;
    public static final int STEADY = 5;
    public static final int KEYS = 100;

    public final ManualTicker ticker = new ManualTicker();
    public final RecordingTier secondary = new RecordingTier();
    public CacheFixture fixture = open(config());

    /** A secondary tier that keeps demoted items in a map. Confined to the test's thread. */
    public static final class RecordingTier implements SecondaryTier {
        /** Values by key. */
        public final Map<String, byte[]> items = new TreeMap<>();
        final Map<String, Integer> classes = new HashMap<>();
        public final List<Integer> loads = new ArrayList<>();
        public int capacity = Integer.MAX_VALUE;
        public int longest = Integer.MAX_VALUE;

        @Override
        public boolean take(long epoch, long hash, Item item, int access, int penaltyClass) {
            return offer(epoch, hash, item, access, penaltyClass) == Answer.TAKEN;
        }

        @Override
        public Answer offer(long epoch, long hash, Item item, int access, int penaltyClass) {
            if (item.valueLength() > longest) {
                return Answer.NEVER;
            }
            if (items.size() >= capacity) {
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

    public final CacheConfig config() {
        return CacheConfig.defaults(8 << 20).withShards(4).withSegmentSizeBytes(16 << 10).withMaxOpenSegments(2)
                .withHashSeed(11)
                .withTicker(ticker).withEvictionPolicy(EvictionPolicy.ALLKEYS_LRU)
                .withPenalties(new PenaltySettings(true, PenaltyRanges.MAX_CLASSES, 0)).withDemand(SETTINGS);
    }

    public final CacheFixture open(CacheConfig config) {
        CacheFixture opened = new CacheFixture(Cache.open(config));
        opened.cache.attachSecondaryTier(secondary);
        return opened;
    }

    @AfterEach
    final void isSound() {
        assertThat(fixture.cache.checkIntegrity()).isEmpty();
        fixture.close();
    }

    public static String key(int penaltyClass, int number) {
        return "key " + penaltyClass + " " + number;
    }

    /** As a server does: an item on flash is fetched before its key is used. */
    public final byte @Nullable [] get(String key) {
        bringUp(key);
        return fixture.get(0, CacheFixture.bytes(key));
    }

    public final void set(int penaltyClass, String key, String value) {
        bringUp(key);
        fixture.session.writesInto(penaltyClass);
        fixture.set(0, CacheFixture.bytes(key), CacheFixture.bytes(value), Item.NEVER);
    }

    public final void delete(String key) {
        bringUp(key);
        assertThat(fixture.delete(0, CacheFixture.bytes(key))).isTrue();
    }

    private void bringUp(String key) {
        byte[] value = secondary.items.remove(key);
        if (value != null) {
            assertThat(fixture.restore(0, CacheFixture.bytes(key), ItemType.STRING, 0, value, 0, Item.NEVER, 0,
                    Objects.requireNonNull(secondary.classes.remove(key)))).isTrue();
        }
    }

    public final boolean isInMemory(String key) {
        return fixture.expireAt(0, CacheFixture.bytes(key)) != null;
    }

    public final void fill() {
        for (int i = 0; i < KEYS; i++) {
            set(PERIODIC, key(PERIODIC, i), "value " + i);
            set(STEADY, key(STEADY, i), "value " + i);
        }
    }

    /** A slot in which the keys of the periodic class are requested this often, and the others once each. */
    public final void slot(int times) {
        for (int i = 0; i < KEYS; i++) {
            for (int time = 0; time < times; time++) {
                assertThat(get(key(PERIODIC, i))).isNotNull();
            }
            assertThat(get(key(STEADY, i))).isNotNull();
        }
        endSlot();
    }

    public final void endSlot() {
        ticker.advanceMillis(SLOT_MILLIS);
        fixture.maintainFully();
    }

    public final void slots(int count, int times) {
        for (int i = 0; i < count; i++) {
            slot(times);
        }
    }

    /** Until the slot that shows that the second valley has come. */
    public final void toTheValley() {
        fill();
        slots(PHASE, 2);
        slots(PHASE, 0);
        slots(PHASE, 2);
        slot(0);
        assertThat(report().dumps()).as("the first valley, and a single slot").isZero();
        slot(0);
    }

    public final DemandReport report() {
        return Objects.requireNonNull(fixture.cache.demand());
    }
}
