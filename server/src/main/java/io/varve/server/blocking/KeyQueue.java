package io.varve.server.blocking;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.NamedKey;
import org.jspecify.annotations.Nullable;

/** Who waits for one key. Guarded by the lock of {@link BlockedKeys}. */
final class KeyQueue {
    private final NamedKey key;
    /** In the order in which they came. */
    private final LinkedHashSet<Waiter> waiters = new LinkedHashSet<>();
    /** Into which keys, and how many of them, put what they find here: most do not. */
    private Map<NamedKey, Integer> targets = Map.of();
    /** How many of them relate the key to others. */
    private int relating;
    /** Who was called for the key and has not looked; null: nobody. */
    private @Nullable Waiter called;
    /** Whether somebody is to be called once the promises are kept that were there before. */
    private boolean due;
    /** When it is served; null while it is not promised. */
    private @Nullable Ticket ticket;
    /** Whether the key was changed since. */
    private boolean changed;
    /** What others have to do once the key is promised to nobody any more. */
    private List<Runnable> behind = new ArrayList<>(0);

    KeyQueue(NamedKey key) {
        this.key = key;
    }

    NamedKey key() {
        return key;
    }

    /** @return whether it was not there yet */
    boolean add(Waiter waiter) {
        if (!waiters.add(waiter)) {
            return false;
        }
        relating += waiter.relatesKeys() ? 1 : 0;
        NamedKey target = waiter.target();
        if (target != null) {
            if (targets.isEmpty()) {
                targets = new HashMap<>();
            }
            targets.merge(target, 1, Integer::sum);
        }
        return true;
    }

    void remove(Waiter waiter) {
        waiters.remove(waiter);
        relating -= waiter.relatesKeys() ? 1 : 0;
        NamedKey target = waiter.target();
        if (target != null) {
            targets.computeIfPresent(target, (_, count) -> count == 1 ? null : count - 1);
        }
    }

    Set<NamedKey> targets() {
        return targets.keySet();
    }

    boolean isEmpty() {
        return waiters.isEmpty();
    }

    /** Who came first of all; null if nobody waits. */
    @Nullable
    Waiter first() {
        return waiters.isEmpty() ? null : waiters.getFirst();
    }

    /** Who came first of those that wait for this type; null if nobody does. */
    @Nullable
    Waiter first(ItemType type) {
        for (Waiter waiter : waiters) {
            if (waiter.type() == type) {
                return waiter;
            }
        }
        return null;
    }

    boolean relatesKeys() {
        return relating > 0;
    }

    /** Whether others are not to use the key now. */
    boolean isPromised() {
        return called != null || due;
    }

    boolean isDue() {
        return due;
    }

    void due(boolean value) {
        due = value;
    }

    @Nullable
    Ticket ticket() {
        return ticket;
    }

    void ticket(@Nullable Ticket value) {
        ticket = value;
    }

    @Nullable
    Waiter called() {
        return called;
    }

    void called(@Nullable Waiter waiter) {
        called = waiter;
    }

    void noteChange() {
        changed = true;
    }

    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }

    void addBehind(Runnable action) {
        behind.add(action);
    }

    List<Runnable> takeBehind() {
        List<Runnable> taken = behind;
        behind = new ArrayList<>(0);
        return taken;
    }
}
