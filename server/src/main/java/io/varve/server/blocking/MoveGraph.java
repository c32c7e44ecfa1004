package io.varve.server.blocking;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

/** The directed graph of keys that blocked clients move results along. Guarded by the lock of {@link BlockedKeys}. */
final class MoveGraph {
    private final Map<HeapKey, KeyQueue> queues;

    /** @param queues the queues of all awaited keys */
    MoveGraph(Map<HeapKey, KeyQueue> queues) {
        this.queues = queues;
    }

    /** The first of these queues from which an element may be moved to the key; null if there is none. */
    @Nullable
    KeyQueue first(Collection<KeyQueue> from, HeapKey key) {
        for (KeyQueue queue : from) {
            if (leadsToAny(queue, key::equals)) {
                return queue;
            }
        }
        return null;
    }

    /**
     * Whether blocked clients may move an element from the queue's key to a matching key, directly or over further
     * keys.
     */
    boolean leadsToAny(KeyQueue from, Predicate<HeapKey> such) {
        Set<KeyQueue> seen = new HashSet<>(List.of(from));
        ArrayDeque<KeyQueue> toSee = new ArrayDeque<>(seen);
        while (!toSee.isEmpty()) {
            for (HeapKey target : toSee.remove().targets()) {
                if (such.test(target)) {
                    return true;
                }
                KeyQueue next = queues.get(target);
                if (next != null && seen.add(next)) {
                    toSee.add(next);
                }
            }
        }
        return false;
    }

    /** Whether a client relates the key of one of these queues to other keys. */
    static boolean areAnyRelated(Collection<KeyQueue> queues) {
        for (KeyQueue queue : queues) {
            if (queue.relatesKeys()) {
                return true;
            }
        }
        return false;
    }
}
