package io.varve.server.blocking;

import java.util.LinkedHashSet;

import org.jspecify.annotations.Nullable;

/**
 * The awaited keys that a command or transaction has changed, in the order of their first changes. Confined to the
 * thread that runs the command.
 *
 * <p>Keys are served in rounds, as in Redis: a key that becomes ready by a served move follows in the next round,
 * unless the present round has yet to reach it.
 */
public final class ReadyKeys {
    private LinkedHashSet<KeyQueue> round = new LinkedHashSet<>();
    private LinkedHashSet<KeyQueue> next = new LinkedHashSet<>();

    /** Whether no key is ready. */
    public boolean isEmpty() {
        return round.isEmpty() && next.isEmpty();
    }

    void add(KeyQueue queue) {
        if (!round.contains(queue)) {
            next.add(queue);
        }
    }

    /** Removes and returns the key to serve next; null if none is left. */
    @Nullable
    KeyQueue poll() {
        if (round.isEmpty()) {
            LinkedHashSet<KeyQueue> served = round;
            round = next;
            next = served;
        }
        return round.isEmpty() ? null : round.removeFirst();
    }

    void clear() {
        round.clear();
        next.clear();
    }
}
