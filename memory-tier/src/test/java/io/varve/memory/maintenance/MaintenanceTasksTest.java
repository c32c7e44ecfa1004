package io.varve.memory.maintenance;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Tests that a failing task does not keep the others from running. Confined to the test's thread. */
class MaintenanceTasksTest {
    private final MaintenanceTasks maintenanceTasks = new MaintenanceTasks();

    @Test
    void tasksAfterAFailureRun() {
        List<String> done = new ArrayList<>();
        OutOfMemoryError refused = new OutOfMemoryError("refused, for the test");
        maintenanceTasks.attempt(() -> done.add("first"));
        maintenanceTasks.attempt(() -> {
            throw refused;
        });
        maintenanceTasks.attempt(() -> {
            throw new IllegalStateException("second failure");
        });
        maintenanceTasks.attempt(() -> {
            throw refused;
        });
        maintenanceTasks.attempt(() -> done.add("last"));
        assertThat(done).containsExactly("first", "last");
        assertThat(maintenanceTasks.more()).isTrue();
        assertThatThrownBy(maintenanceTasks::throwFailure).isSameAs(refused).hasSuppressedException(
                new IllegalStateException("second failure"));
    }

    @Test
    void exceptionsAreRethrownUnchanged() {
        IllegalStateException failure = new IllegalStateException("for the test");
        maintenanceTasks.attempt(() -> {
            throw failure;
        });
        assertThat(maintenanceTasks.more()).isFalse();
        assertThatThrownBy(maintenanceTasks::throwFailure).isSameAs(failure);
    }

    @Test
    void withoutAFailureNothingIsThrown() {
        maintenanceTasks.attempt(() -> false);
        assertThat(maintenanceTasks.more()).isFalse();
        assertThatCode(maintenanceTasks::throwFailure).doesNotThrowAnyException();
    }
}
