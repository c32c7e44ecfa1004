package io.varve.flash.store;

import java.util.concurrent.TimeUnit;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * The open files of a store whose library gives them up when it cannot go on: they are opened anew, and the operation is done
 * again, once. Where they cannot be opened, calls fail, and now and then one of them tries again. Many threads.
 *
 * <p>An interrupt in the middle of an operation costs a library its files (a channel is closed by it), so threads are not
 * interrupted in here: the flag waits until the operation is done.
 *
 * @param <F> the files, as the library has them
 */
public final class Reopening<F> {
    /**
     * How files are treated. Immutable.
     *
     * @param open     fails with a {@link StoreException}
     * @param isUsable whether they can still be used after an operation failed like this
     * @param letGo    gives back what is left of those that cannot, and does not fail
     */
    public record Handling<F>(Supplier<F> open, BiPredicate<F, RuntimeException> isUsable, Consumer<F> letGo) {}

    /** What one opening made, and how many there were before: whoever sees new files sees that they are. Immutable. */
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
    /** When opening failed it is not tried again before this moment. Guarded by this. */
    private long notBeforeNanos;

    /**
     * Opens the files.
     *
     * @param name        for messages
     * @param retryMillis how long calls fail at once after files could not be opened anew
     * @param nanoTime    a clock
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
     * Does it, and once more with files that were opened anew if the library gave these up. Whatever the operation throws in the
     * end, this throws.
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

    /** The same for what means nothing with other files: they are opened anew for those who come later, and it fails. */
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
                    name + " was given up by its library and could not be opened anew yet", null);
        }
        notBeforeNanos = now + retryNanos;
        handling.letGo().accept(broken.files);
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

    /** The files at this moment. */
    public F files() {
        return current.files;
    }

    /** How often they were opened anew. */
    public long reopened() {
        return current.number;
    }

    /** They are not opened any more. @return false if that was so already */
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
