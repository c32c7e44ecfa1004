package io.varve.testing;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests the budgets and seeds of tests. Confined to the test's thread, which alone has the property. */
class TestBudgetTest {
    private static final String NAME = "varve.budget-test";

    @AfterEach
    void clear() {
        System.clearProperty(NAME);
    }

    @Test
    void of_withoutProperty_isGateOrNightly() {
        long expected = Boolean.getBoolean("varve.test.nightly") ? 70 : 7;
        assertThat(TestBudget.of(NAME, 7, 70)).isEqualTo(expected);
        assertThat(TestBudget.ofInt(NAME, 7, 70)).isEqualTo((int) expected);
    }

    @Test
    void cases_inTheGate_areTheFirstOnly() {
        List<String> expected = Boolean.getBoolean("varve.test.nightly") ? List.of("a", "b", "c") : List.of("a");
        assertThat(TestBudget.cases(List.of("a"), List.of("b", "c"))).isEqualTo(expected);
    }

    @Test
    void of_withProperty_isThatProperty() {
        System.setProperty(NAME, "12345");
        assertThat(TestBudget.of(NAME, 7, 70)).isEqualTo(12_345);
        assertThat(TestBudget.seed(NAME)).isEqualTo(12_345);
    }

    @Test
    void of_zero_isRefused() {
        System.setProperty(NAME, "0");
        assertThatThrownBy(() -> TestBudget.of(NAME, 7, 70)).hasMessageContaining(NAME);
    }

    @Test
    void seed_withoutProperty_differs() {
        assertThat(TestBudget.seed(NAME)).isNotEqualTo(TestBudget.seed(NAME));
    }
}
