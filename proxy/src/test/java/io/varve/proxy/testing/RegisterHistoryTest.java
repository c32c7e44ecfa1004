package io.varve.proxy.testing;

import io.varve.testing.RegisterHistory;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests that the checker accepts what a register may do, and finds what it may not. Confined to the test's thread. */
class RegisterHistoryTest {
    private final RegisterHistory history = new RegisterHistory();

    @Test
    void overlappingOperations_mayTakeEffectInEitherOrder() {
        history.write("a", 0, 10);
        history.write("b", 20, 40);
        history.read("a", 25, 30);
        history.read("b", 31, 35);
        history.read("b", 50, 60);
        assertThat(history.problems()).isEmpty();
    }

    @Test
    void aReadThatMissesAFinishedWrite_isFound() {
        history.write("a", 0, 10);
        history.write("b", 20, 30);
        history.read("a", 40, 50);
        assertThat(history.problems()).hasSize(1);
    }

    @Test
    void readsThatGoBack_areFound() {
        history.write("a", 0, 10);
        history.write("b", 20, 100);
        history.read("b", 30, 40);
        history.read("a", 50, 60);
        assertThat(history.problems()).hasSize(1);
    }

    @Test
    void anUnconfirmedWrite_mayTakeEffectLaterOrNever_butNotTwice() {
        history.write("a", 0, 10);
        history.unconfirmedWrite("b", 20);
        history.unconfirmedWrite("c", 20);
        history.read("a", 30, 40);
        history.read("b", 50, 60);
        assertThat(history.problems()).isEmpty();
        history.read("a", 70, 80);
        assertThat(history.problems()).hasSize(1);
    }

    @Test
    void aReadBeforeItsWrite_isFound() {
        history.read("a", 0, 5);
        history.write("a", 10, 20);
        assertThat(history.problems()).hasSize(1);
    }
}
