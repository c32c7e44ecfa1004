package io.varve.server.blocking;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.NamedKey;
import org.jspecify.annotations.Nullable;

/** Who waits for one key. Guarded by the lock of {@link BlockedKeys}. */
final class KeyQueue {
    private final NamedKey key;
    /** In the order in which they came, without those that are put off: these are not called. */
    private final TreeMap<Long, Waiter> ready = new TreeMap<>();
    private int putOff;
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
    /** Those who wait until the key is promised to nobody any more. */
    private final Set<Pass> behind = new LinkedHashSet<>(2);

    KeyQueue(NamedKey key) {
        this.key = key;
    }

    NamedKey key() {
        return key;
    }

    /** @return whether it was not there yet */
    boolean add(Waiter waiter) {
        if (ready.putIfAbsent(waiter.order(), waiter) != null) {
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
        if (waiter.isPutOff()) {
            putOff--;
        } else {
            ready.remove(waiter.order());
        }
        relating -= waiter.relatesKeys() ? 1 : 0;
        NamedKey target = waiter.target();
        if (target != null) {
            targets.computeIfPresent(target, (_, count) -> count == 1 ? null : count - 1);
        }
    }

    /** One that is here is not to be called until it is {@link #putBack put back}. */
    void putOff(Waiter waiter) {
        ready.remove(waiter.order());
        putOff++;
    }

    /** It has its old place again. */
    void putBack(Waiter waiter) {
        ready.put(waiter.order(), waiter);
        putOff--;
    }

    Set<NamedKey> targets() {
        return targets.keySet();
    }

    /** Whether nobody waits. */
    boolean isEmpty() {
        return ready.isEmpty() && putOff == 0;
    }

    /** Who came first of those that may be called; null if nobody may. */
    @Nullable
    Waiter first() {
        return ready.isEmpty() ? null : ready.firstEntry().getValue();
    }

    /** The same of those that wait for this type. */
    @Nullable
    Waiter first(ItemType type) {
        for (Waiter waiter : ready.values()) {
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

    void addBehind(Pass pass) {
        behind.add(pass);
        pass.behind(this);
    }

    void removeBehind(Pass pass) {
        behind.remove(pass);
        pass.behind(null);
    }

    /** Has all of them go on. */
    void letGoBehind() {
        if (!behind.isEmpty()) {
            List<Pass> all = List.copyOf(behind);
            all.forEach(this::removeBehind);
            all.forEach(Pass::wake);
        }
    }
}
