package io.varve.flash.tier;

import java.nio.file.Path;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

import io.varve.flash.store.CrashingStore;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Item;
import io.varve.memory.offheap.Memory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A listener hears of every key that leaves both tiers, before a client can find that it is absent. Confined to the
 * test's thread, except the tier's own.
 */
class DroppedKeysTest {
    private static final int NAMES = 4000;
    private static final int COMMANDS = 20_000;

    @TempDir
    Path directory;

    private final CrashingStore device = new CrashingStore();
    private final Set<String> present = ConcurrentHashMap.newKeySet();
    private final LongAdder dropped = new LongAdder();

    private void changed(Change change, int database, long address, int length) {
        String name = database + "/" + new String(Memory.toArray(address, length), UTF_8);
        switch (change) {
            case SET -> present.add(name);
            case DELETED, EXPIRED, EMPTIED, EVICTED -> present.remove(name);
            case DROPPED -> {
                present.remove(name);
                dropped.increment();
            }
            case INTERNAL, EXPIRY_SET, PERSISTED, FIELDS_EXPIRED, DEMOTED -> {
            }
        }
    }

    private void subscribe(TierFixture fixture) {
        ChangeListener listener = (change, _, _, database, address, length) -> changed(change, database, address,
                length);
        fixture.cache.subscribe(listener);
    }

    @Test
    void evictedAndShedKeys_areReported() {
        // Some are evicted from the store, and some find no space in the queue.
        FlashTierSettings small = FlashTierSettings.of(1000).withQueueBytes(4_000);
        SplittableRandom random = new SplittableRandom(1);
        try (TierFixture fixture = new TierFixture(directory, _ -> device, small)) {
            subscribe(fixture);
            for (int i = 0; i < COMMANDS; i++) {
                int number = random.nextInt(NAMES);
                String name = "key" + number;
                int database = number % TierFixture.DATABASES;
                if (random.nextInt(3) == 0) {
                    boolean wasAbsent = !present.contains(database + "/" + name);
                    String found = fixture.get(database, name);
                    assertThat(!wasAbsent || found == null).as(name).isTrue();
                    assertThat(found != null || !present.contains(database + "/" + name)).as(name).isTrue();
                } else {
                    fixture.set(database, name, "x".repeat(700));
                }
            }
            fixture.settle();
            FlashTierStats stats = fixture.tier.stats();
            assertThat(stats.evictions()).isGreaterThan(100);
            assertThat(stats.shed()).isPositive();
            assertThat(dropped.sum()).isGreaterThanOrEqualTo(stats.evictions());
            assertThat(fixture.size(0) + fixture.size(1) + fixture.size(2)).isEqualTo(present.size());
        }
    }

    @Test
    void expiredKeys_areReportedBeforeTheirRequestIsAnswered() {
        AtomicLong millis = new AtomicLong(1_700_000_000_000L);
        try (TierFixture fixture = TierFixture.at(millis, directory, _ -> device, FlashTierSettings.of(100_000))) {
            fixture.set(1, "expires", "value", millis.get() + 500);
            fixture.set(1, "stays", "value", Item.NEVER);
            fixture.demoteOthers(0, "key");
            fixture.settle();
            subscribe(fixture);
            present.add("1/expires");
            present.add("1/stays");
            millis.addAndGet(501);
            assertThat(fixture.get(1, "expires")).isNull();
            assertThat(fixture.tier.stats().expired()).isEqualTo(1);
            assertThat(present).contains("1/stays").doesNotContain("1/expires");
            assertThat(fixture.get(1, "stays")).isEqualTo("value");
        }
    }
}
