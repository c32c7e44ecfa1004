package io.varve.flash.tier;

import java.nio.file.Path;

import io.varve.flash.store.CrashingStore;
import io.varve.flash.store.StoreException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests a load of data into a tier: {@link TierLoad}. Confined to the test's thread, except the tier's own. */
class TierLoadTest {
    private static final FlashTierSettings AMPLE = FlashTierSettings.of(100_000).withQueueBytes(1L << 28);
    /** Three times what fits into memory. */
    private static final int KEYS = 3000;
    private static final String VALUE = "v".repeat(1000);

    @TempDir
    Path directory;

    private final CrashingStore device = new CrashingStore();

    private void load(TierFixture fixture) {
        fixture.tier.beginLoad();
        for (int i = 0; i < KEYS; i++) {
            fixture.set(0, "key " + i, i + VALUE);
        }
    }

    @Test
    void eachItemIsKept_thoughTheQueueIsNotUsed() {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
            load(fixture);
            assertThat(fixture.tier.stats().queueDepth()).isZero();
            fixture.tier.endLoad();
            assertThat(device.count()).isGreaterThan(KEYS / 2);
            for (int i = 0; i < KEYS; i++) {
                assertThat(fixture.get(0, "key " + i)).isEqualTo(i + VALUE);
            }
        }
    }

    @Test
    void damagedItem_failsTheLoad() {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
            load(fixture);
            for (byte[] key : device.keys()) {
                device.corrupt(key, 20);
            }
            assertThat(fixture.get(0, "key 0")).isNull();
            assertThatThrownBy(fixture.tier::endLoad).isInstanceOf(StoreException.class)
                    .hasMessage("Flash lost items while data was loaded");
        }
    }

    /** Only items that are lost during the load count. */
    @Test
    void damagedItemBeforeTheLoad_doesNotFailIt() {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
            fixture.set(0, "damaged", "value");
            fixture.demoteOthers(2, "other ");
            fixture.settle();
            for (byte[] key : device.keys()) {
                device.corrupt(key, 20);
            }
            assertThat(fixture.get(0, "damaged")).isNull();
            fixture.tier.beginLoad();
            fixture.tier.endLoad();
            assertThat(fixture.tier.stats().corrupt()).isEqualTo(1);
        }
    }

    @Test
    void reopenedStore_failsTheLoad() {
        try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
            load(fixture);
            device.reopen();
            assertThatThrownBy(fixture.tier::endLoad).isInstanceOf(StoreException.class)
                    .hasMessage("The store was reopened while data was loaded");
        }
    }
}
