package io.varve.memory.maintenance;

import java.util.function.BooleanSupplier;

import io.varve.memory.item.LockWait;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of one maintenance round one after the other; a task that fails, even repeatedly, does not keep the
 * others from running. Confined to one thread.
 */
public final class MaintenanceTasks {
    private boolean more;
    private @Nullable Throwable failure;

    /**
     * @param task the task; it returns whether it has more to do at once
     * @throws LockWait.GivenUpException if the thread does not wait for a shard: it would not for the next one either
     */
    // One error object may occur twice (the JVM preallocates some), and an error cannot suppress itself.
    @SuppressWarnings("ReferenceEquality")
    public void attempt(BooleanSupplier task) {
        try {
            more |= task.getAsBoolean();
        } catch (LockWait.GivenUpException givenUp) {
            throw givenUp;
        } catch (RuntimeException | Error failed) {
            if (failure == null) {
                failure = failed;
            } else if (failure != failed) {
                failure.addSuppressed(failed);
            }
        }
    }

    /** Whether a task has more to do at once. */
    public boolean more() {
        return more;
    }

    /** Throws the first failure, with the others suppressed in it; does nothing if there was none. */
    public void throwFailure() {
        switch (failure) {
            case null -> {
            }
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new AssertionError(failure);
        }
    }
}
