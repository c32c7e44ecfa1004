package io.varve.memory;

import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;

/**
 * A round of what is done one after the other: one that fails, again and again perhaps, keeps none of the others from being
 * done. Confined to one thread.
 */
final class Chores {
    private boolean more;
    private @Nullable Throwable failure;

    /** @param chore says whether there is more of it to do at once */
    // The same error may come twice (the JVM keeps some ready), and none can be suppressed in itself.
    @SuppressWarnings("ReferenceEquality")
    void attempt(BooleanSupplier chore) {
        try {
            more |= chore.getAsBoolean();
        } catch (RuntimeException | Error failed) {
            if (failure == null) {
                failure = failed;
            } else if (failure != failed) {
                failure.addSuppressed(failed);
            }
        }
    }

    /** Whether one of them has more to do at once. */
    boolean more() {
        return more;
    }

    /** Throws what went wrong first, with the rest suppressed in it; does nothing if all went well. */
    void throwFailure() {
        switch (failure) {
            case null -> {
            }
            case Error error -> throw error;
            case RuntimeException exception -> throw exception;
            default -> throw new AssertionError(failure);
        }
    }
}
