package io.varve.ycsb;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Who may put what into the cache, step by step. Confined to the test's thread. */
class PendingFillsTest {

    private final PendingFills fills = new PendingFills();
    private final List<String> done = new ArrayList<>();

    @Test
    void whatNobodyWroteIsFilled() {
        try (PendingFills.Fill fill = fills.begin("a")) {
            assertThat(fill.unlessOvertaken(() -> done.add("a"))).isTrue();
        }
        assertThat(done).containsExactly("a");
        assertThat(fills.size()).isZero();
    }

    @Test
    void whatWasReadBeforeAWriteIsNot() {
        try (PendingFills.Fill before = fills.begin("a")) {
            fills.overtake("a");
            try (PendingFills.Fill after = fills.begin("a")) {
                assertThat(before.unlessOvertaken(() -> done.add("before"))).isFalse();
                assertThat(after.unlessOvertaken(() -> done.add("after"))).isTrue();
                assertThat(fills.size()).isEqualTo(1);
            }
            assertThat(before.unlessOvertaken(() -> done.add("before"))).isFalse();
        }
        assertThat(done).containsExactly("after");
        assertThat(fills.size()).isZero();
    }

    /** Also for keys behind one lock. */
    @Test
    void aWriteOvertakesItsOwnKeyOnly() {
        List<PendingFills.Fill> open = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            open.add(fills.begin("user" + i));
        }
        fills.overtake("user77");
        fills.overtake("nobody");
        for (int i = 0; i < open.size(); i++) {
            try (PendingFills.Fill fill = open.get(i)) {
                assertThat(fill.unlessOvertaken(() -> {})).isEqualTo(i != 77);
            }
        }
        assertThat(fills.size()).isZero();
    }

    @Test
    void aKeyWithoutFillsIsNotKept() {
        fills.overtake("a");
        assertThat(fills.size()).isZero();
    }
}
