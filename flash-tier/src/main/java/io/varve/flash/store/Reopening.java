package io.varve.flash.store;

import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The open files of a store, reopened when its library gives them up; the operation is then retried once. Many threads.
 * If the files cannot be opened, calls fail, and one of them retries from time to time.
 *
 * <p>An interrupt during an operation closes a channel and so costs a library its files. Therefore threads are not
 * interruptible in here: the flag is restored after the operation.
 *
 * @param <F> the library's open files
 */
public final class Reopening<F> {
    /**
     * The operations on files. Immutable.
     *
     * @param open opens them or throws a {@link StoreException}
     * @param isUsable whether they are still usable after this failure of an operation
     * @param closeBroken releases unusable files, and does not throw
     */
    public record Handling<F>(Supplier<F> open, BiPredicate<F, RuntimeException> isUsable, Consumer<F> closeBroken) {}

    /**
     * The result of one opening and the number of earlier ones, together so that readers see them consistently.
     * Immutable.
     */
    private static final class Current<F> {
        private final F files;
        private final long number;

        Current(F files, long number) {
            this.files = files;
            this.number = number;
        }
    }

    private final String name;
    private final Handling<F> handling;
    private final long retryNanos;
    private final LongSupplier nanoTime;
    private volatile Current<F> current;
    private volatile boolean closed;
    /** After a failed reopening, no retry before this time. Guarded by {@code this}. */
    private long notBeforeNanos;

    /**
     * Opens the files.
     *
     * @param name the name of the store in messages
     * @param retryMillis how long calls fail immediately after the files could not be reopened
     * @param nanoTime a clock
     */
    public Reopening(String name, Handling<F> handling, long retryMillis, LongSupplier nanoTime) {
        this.name = name;
        this.handling = handling;
        this.nanoTime = nanoTime;
        retryNanos = TimeUnit.MILLISECONDS.toNanos(retryMillis);
        notBeforeNanos = nanoTime.getAsLong();
        current = new Current<>(handling.open().get(), 0);
    }

    /**
     * Runs the operation, and retries it once with reopened files if the library gave these up. It throws the
     * operation's final exception.
     */
    public <T extends @Nullable Object> T call(Function<F, T> operation) {
        return uninterrupted(() -> {
            Current<F> used = current;
            try {
                return operation.apply(used.files);
            } catch (RuntimeException failed) {
                if (closed || isUsable(used, failed)) {
                    throw failed;
                }
                return operation.apply(reopen(used));
            }
        });
    }

    /** Runs an operation that is meaningless on other files: it fails, and the files are reopened for later calls. */
    public void callOnce(Consumer<F> operation) {
        uninterrupted(() -> {
            Current<F> used = current;
            try {
                operation.accept(used.files);
            } catch (RuntimeException failed) {
                if (!closed && !isUsable(used, failed)) {
                    reopen(used);
                }
                throw failed;
            }
            return true;
        });
    }

    private boolean isUsable(Current<F> used, RuntimeException failed) {
        return current == used && handling.isUsable().test(used.files, failed);
    }

    private synchronized F reopen(Current<F> broken) {
        if (current != broken) {
            return current.files;
        }
        long now = nanoTime.getAsLong();
        if (closed || now - notBeforeNanos < 0) {
            throw new StoreException(StoreException.Kind.BROKEN,
                    name + " was closed by its library after an error and could not be reopened yet", null);
        }
        notBeforeNanos = now + retryNanos;
        handling.closeBroken().accept(broken.files);
        F fresh = handling.open().get();
        current = new Current<>(fresh, broken.number + 1);
        notBeforeNanos = now;
        return fresh;
    }

    private static <T extends @Nullable Object> T uninterrupted(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            return work.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The current files. */
    public F files() {
        return current.files;
    }

    /** Number of reopenings. */
    public long reopened() {
        return current.number;
    }

    /** Closes the files for good. @return false if they were closed already */
    public synchronized boolean close(Consumer<F> closing) {
        if (closed) {
            return false;
        }
        closed = true;
        uninterrupted(() -> {
            closing.accept(current.files);
            return null;
        });
        return true;
    }
}
