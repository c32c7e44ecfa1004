package io.varve.proxy.map;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link HotKeyCopies}. Confined to the test's thread. */
class HotKeyCopiesTest {
    private static final Endpoint A = new Endpoint("a", 1);
    private static final Endpoint B = new Endpoint("b", 1);
    private static final long BEGIN = Long.MAX_VALUE - 1;
    private static final long LATER = BEGIN + HotKeyCopies.LAG_NANOS;

    @Test
    void aKeyIsUsed_onceItsWritesHaveBeenKnownForLongEnough() {
        HotKeyCopies copies = HotKeyCopies.NONE.next(Map.of("k", List.of(A)), BEGIN);
        assertThat(copies.isEmpty()).isFalse();
        assertThat(copies.has("k")).isTrue();
        assertThat(copies.choose("k", 1, LATER - 1)).isNull();
        assertThat(copies.choose("k", 1, LATER)).isEqualTo(A);
        assertThat(copies.choose("other", 1, LATER)).isNull();
        HotKeyCopies next = copies.next(Map.of("k", List.of(A, B), "new", List.of(A)), LATER);
        assertThat(next.choose("k", 2, LATER)).isEqualTo(B);
        assertThat(next.choose("new", 1, LATER)).isNull();
        HotKeyCopies none = next.next(Map.of(), LATER);
        assertThat(none.isEmpty()).isTrue();
        assertThat(none.next(Map.of("k", List.of(A)), LATER).choose("k", 1, LATER)).as("found again").isNull();
    }

    @Test
    void clients_areSpreadOverTheHoldersAndTheOwner() {
        HotKeyCopies copies = HotKeyCopies.NONE.next(Map.of("k", List.of(A, B), "alone", List.of()), BEGIN);
        Map<String, Integer> clients = new HashMap<>();
        for (int id = 0; id < 300; id++) {
            clients.merge(String.valueOf(copies.choose("k", id, LATER)), 1, Integer::sum);
            assertThat(copies.choose("alone", id, LATER)).isNull();
        }
        assertThat(clients).isEqualTo(Map.of("a:1", 100, "b:1", 100, "null", 100));
    }
}
