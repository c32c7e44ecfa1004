package io.varve.server.command.persistence;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * The threads that load one file together. If one of them fails, all end. Confined to the thread that starts them,
 * except {@link #hasFailed}.
 */
public final class LoadThreads {
    private static final long POLL_MILLIS = 2;

    /** The task of a thread. */
    @FunctionalInterface
    public interface Task {
        /** @throws IOException if the file cannot be loaded */
        void run() throws IOException;
    }

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private final Runnable onFailure;

    /** @param onFailure makes all threads end soon; any thread may call it, more than once */
    public LoadThreads(Runnable onFailure) {
        this.onFailure = onFailure;
    }

    /** Starts one more thread. */
    public void start(Task task) {
        threads.add(Thread.ofPlatform().name("varve-load-" + threads.size()).daemon().start(() -> {
            try {
                task.run();
            } catch (IOException | RuntimeException | Error failed) {
                fail(failed);
            }
        }));
    }

    /** Ends all threads, because of a failure. Later failures are a consequence of the first one, and do not count. */
    public void fail(Throwable failed) {
        failure.compareAndSet(null, failed);
        onFailure.run();
    }

    /** Whether any thread has failed. */
    public boolean hasFailed() {
        return failure.get() != null;
    }

    /** Waits a little. @return whether any thread runs, and none has failed */
    public boolean isRunning() {
        if (hasFailed()) {
            return false;
        }
        for (Thread thread : threads) {
            if (thread.isAlive()) {
                join(thread, POLL_MILLIS);
                return true;
            }
        }
        return false;
    }

    /** Waits for the end of all threads. */
    public void join() {
        threads.forEach(thread -> join(thread, 0));
    }

    /** Throws what has failed first, if anything has. */
    public void rethrow() throws IOException {
        switch (failure.get()) {
            case null -> {
            }
            case IOException broken -> throw broken;
            case RuntimeException broken -> throw broken;
            case Error broken -> throw broken;
            case Throwable other -> throw new IOException(other);
        }
    }

    /** @param millis 0: until it ends */
    private static void join(Thread thread, long millis) {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join(millis);
                break;
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
