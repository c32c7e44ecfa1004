package io.varve.server.blocking;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import io.varve.memory.item.ItemType;
import io.varve.server.keys.HeapKey;
import org.jspecify.annotations.Nullable;

/** The clients that wait for one key. Guarded by the lock of {@link BlockedKeys}. */
final class KeyQueue {
    private final HeapKey key;
    /** Clients that may be woken, in order of arrival; deferred clients are not among them. */
    private final TreeMap<Long, BlockedClient> ready = new TreeMap<>();
    private int deferredCount;
    /** The keys into which clients of this queue move their result, each with its number of clients. Usually empty. */
    private Map<HeapKey, Integer> targets = Map.of();
    /** Number of clients that relate the key to others. */
    private int relating;
    /** The client that was woken for the key and has not re-run its command; null if there is none. */
    private @Nullable BlockedClient reservedFor;
    /** Whether a client is to be woken once the earlier reservations have ended. */
    private boolean due;
    /** When the key is served; null while it is not reserved. */
    private @Nullable WakeOrder wakeOrder;
    /** Whether the key has changed since the wake-up. */
    private boolean changed;
    /** Commands that wait for the reservation of this key to end. */
    private final Set<BarrierWaiter> waiters = new LinkedHashSet<>(2);

    KeyQueue(HeapKey key) {
        this.key = key;
    }

    HeapKey key() {
        return key;
    }

    /** @return whether the client was not in the queue yet */
    boolean add(BlockedClient blocked) {
        if (ready.putIfAbsent(blocked.order(), blocked) != null) {
            return false;
        }
        relating += blocked.relatesKeys() ? 1 : 0;
        HeapKey target = blocked.target();
        if (target != null) {
            if (targets.isEmpty()) {
                targets = new HashMap<>();
            }
            targets.merge(target, 1, Integer::sum);
        }
        return true;
    }

    void remove(BlockedClient blocked) {
        if (blocked.isDeferred()) {
            deferredCount--;
        } else {
            ready.remove(blocked.order());
        }
        relating -= blocked.relatesKeys() ? 1 : 0;
        HeapKey target = blocked.target();
        if (target != null) {
            targets.computeIfPresent(target, (_, count) -> count == 1 ? null : count - 1);
        }
    }

    /** Keeps a client of this queue from being woken until {@link #requeue}. */
    void defer(BlockedClient blocked) {
        ready.remove(blocked.order());
        deferredCount++;
    }

    /** Gives a deferred client its old place back. */
    void requeue(BlockedClient blocked) {
        ready.put(blocked.order(), blocked);
        deferredCount--;
    }

    Set<HeapKey> targets() {
        return targets.keySet();
    }

    /** Whether no client waits. */
    boolean isEmpty() {
        return ready.isEmpty() && deferredCount == 0;
    }

    /** The earliest client that may be woken; null if there is none. */
    @Nullable
    BlockedClient first() {
        return ready.isEmpty() ? null : ready.firstEntry().getValue();
    }

    /** The earliest client that can be woken and that waits for this type; null if there is none. */
    @Nullable
    BlockedClient first(ItemType type) {
        for (BlockedClient blocked : ready.values()) {
            if (blocked.type() == type) {
                return blocked;
            }
        }
        return null;
    }

    boolean relatesKeys() {
        return relating > 0;
    }

    /** Whether other commands must not use the key. */
    boolean isReserved() {
        return reservedFor != null || due;
    }

    boolean isDue() {
        return due;
    }

    void due(boolean value) {
        due = value;
    }

    @Nullable
    WakeOrder wakeOrder() {
        return wakeOrder;
    }

    void wakeOrder(@Nullable WakeOrder value) {
        wakeOrder = value;
    }

    @Nullable
    BlockedClient reservedFor() {
        return reservedFor;
    }

    void reservedFor(@Nullable BlockedClient blocked) {
        reservedFor = blocked;
    }

    void noteChange() {
        changed = true;
    }

    boolean takeChanged() {
        boolean was = changed;
        changed = false;
        return was;
    }

    void addWaiter(BarrierWaiter barrierWaiter) {
        waiters.add(barrierWaiter);
        barrierWaiter.blockingQueue(this);
    }

    void removeWaiter(BarrierWaiter barrierWaiter) {
        waiters.remove(barrierWaiter);
        barrierWaiter.blockingQueue(null);
    }

    /** Resumes all commands that wait for the reservation. */
    void wakeWaiters() {
        if (!waiters.isEmpty()) {
            List<BarrierWaiter> all = List.copyOf(waiters);
            all.forEach(this::removeWaiter);
            all.forEach(BarrierWaiter::wake);
        }
    }
}
