package io.varve.memory;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What goes wrong in one chore keeps no other from being done. Confined to the test's thread. */
class ChoresTest {
    private final Chores chores = new Chores();

    @Test
    void whatComesAfterAFailureIsDone() {
        List<String> done = new ArrayList<>();
        OutOfMemoryError refused = new OutOfMemoryError("refused, for the test");
        chores.attempt(() -> done.add("first"));
        chores.attempt(() -> {
            throw refused;
        });
        chores.attempt(() -> {
            throw new IllegalStateException("second failure");
        });
        chores.attempt(() -> {
            throw refused;
        });
        chores.attempt(() -> done.add("last"));
        assertThat(done).containsExactly("first", "last");
        assertThat(chores.more()).isTrue();
        assertThatThrownBy(chores::throwFailure).isSameAs(refused).hasSuppressedException(
                new IllegalStateException("second failure"));
    }

    @Test
    void anExceptionIsThrownAsItWas() {
        IllegalStateException failure = new IllegalStateException("for the test");
        chores.attempt(() -> {
            throw failure;
        });
        assertThat(chores.more()).isFalse();
        assertThatThrownBy(chores::throwFailure).isSameAs(failure);
    }

    @Test
    void withoutAFailureNothingIsThrown() {
        chores.attempt(() -> false);
        assertThat(chores.more()).isFalse();
        assertThatCode(chores::throwFailure).doesNotThrowAnyException();
    }
}
