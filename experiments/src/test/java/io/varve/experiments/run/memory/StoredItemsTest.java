package io.varve.experiments.run.memory;

import java.io.IOException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the sums over SCAN's results. Confined to the test's thread. */
final class StoredItemsTest {
    private final StoredItems stored = new StoredItems("kk", key -> (int) (10 + key));

    @Test
    void eachKeyCountsOnceWithItsValue() throws IOException {
        // As a connection gives an array within an array: the cursor, then the keys, then the inner one's end.
        assertThat(stored.add("17\nkk003\nkk005\n\n")).isEqualTo("17");
        assertThat(stored.add("0\nkk005\n\n")).as("SCAN may give a key twice").isEqualTo("0");
        assertThat(stored.keys()).isEqualTo(2);
        assertThat(stored.payloadBytes()).isEqualTo(5 + 13 + 5 + 15);
        assertThat(stored.next(0)).isEqualTo(3);
        assertThat(stored.next(4)).isEqualTo(5);
        assertThat(stored.next(6)).isEqualTo(-1);
    }

    @Test
    void foreignKeyIsReported() {
        assertThatThrownBy(() -> stored.add("0\nother\n\n")).isInstanceOf(IOException.class)
                .hasMessageContaining("other");
    }
}
