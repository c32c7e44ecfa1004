package io.varve.memory;

import io.varve.memory.config.CacheConfig;
import io.varve.memory.item.CacheFullException;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.segment.ItemLayout;
import io.varve.memory.testing.CacheFixture;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests items of the greatest length: some bytes less than 2 GB, none of which is touched here. Confined to the test's
 * thread.
 */
class LongestItemsTest {
    private static final long BUFFER_BYTES = 5L << 30;

    @Test
    void anImpossibleItemIsRefusedAndKeepsNoMemory() {
        try (CacheFixture fixture = new CacheFixture(Cache.open(CacheConfig.defaults(BUFFER_BYTES).withShards(1)))) {
            fixture.now();
            fixture.bind(0, CacheFixture.bytes("key"));
            fixture.session.lock(fixture.key);
            try {
                for (int headers = 0; headers < ItemLayout.largeHeadroom(fixture.key.length()); headers++) {
                    int length = Integer.MAX_VALUE - headers;
                    assertThatThrownBy(() -> fixture.session.put(fixture.key, fixture.item, ItemType.LIST, 0, length,
                            length, Item.NEVER)).isInstanceOfSatisfying(CacheFullException.class,
                                    full -> assertThat(full.isRecoverable()).isFalse());
                }
                assertThat(fixture.cache.hasFreeMemory(BUFFER_BYTES - (64 << 20))).isTrue();
                fixture.session.put(fixture.key, fixture.item, ItemType.LIST, 0, 10, Integer.MAX_VALUE, Item.NEVER);
                assertThat(fixture.item.valueLength()).isEqualTo(10);
            } finally {
                fixture.session.unlock(fixture.key);
            }
            assertThat(fixture.cache.checkIntegrity()).isEmpty();
        }
    }
}
