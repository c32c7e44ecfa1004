package io.varve.server.blocking;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

import io.varve.server.keys.NamedKey;
import org.jspecify.annotations.Nullable;

/** Where waiters put what they find, from key to key. Guarded by the lock of {@link BlockedKeys}. */
final class Paths {
    private final Map<NamedKey, KeyQueue> queues;

    /** @param queues of all keys that are waited for */
    Paths(Map<NamedKey, KeyQueue> queues) {
        this.queues = queues;
    }

    /** The first of these from which what comes may be moved to a key; null if there is none. */
    @Nullable
    KeyQueue first(Collection<KeyQueue> from, NamedKey key) {
        for (KeyQueue queue : from) {
            if (leadsToAny(queue, key::equals)) {
                return queue;
            }
        }
        return null;
    }

    /** Whether what comes to a key may be moved to such a one, by those that wait now, be it over further ones. */
    boolean leadsToAny(KeyQueue from, Predicate<NamedKey> such) {
        Set<KeyQueue> seen = new HashSet<>(List.of(from));
        ArrayDeque<KeyQueue> toSee = new ArrayDeque<>(seen);
        while (!toSee.isEmpty()) {
            for (NamedKey target : toSee.remove().targets()) {
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

    /** Whether somebody brings one of these into relation with other keys. */
    static boolean areAnyRelated(Collection<KeyQueue> queues) {
        for (KeyQueue queue : queues) {
            if (queue.relatesKeys()) {
                return true;
            }
        }
        return false;
    }
}
