package io.varve.server.persistence;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Actions that wait until the change stream is on disk up to an offset. Guarded by its own monitor, which is not held
 * while an action runs.
 */
final class DurabilityWaiters {
    /** Each action, and the offset that it waits for. */
    private final Map<Runnable, Long> offsets = new LinkedHashMap<>();

    /** Adds an action; if it waits already, it waits for the later offset. */
    synchronized void add(long offset, Runnable action) {
        offsets.merge(action, offset, Math::max);
    }

    synchronized void cancel(Runnable action) {
        offsets.remove(action);
    }

    synchronized int count() {
        return offsets.size();
    }

    /** Runs and removes the actions that wait for this offset, or an earlier one. */
    void run(long upTo) {
        take(upTo).forEach(Runnable::run);
    }

    private synchronized List<Runnable> take(long upTo) {
        List<Runnable> due = new ArrayList<>();
        offsets.entrySet().removeIf(waiter -> waiter.getValue() <= upTo && due.add(waiter.getKey()));
        return due;
    }
}
