package io.varve.server.blocking;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.varve.memory.Cache;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.keys.HeapKey;
import io.varve.server.keys.KeyCounters;
import org.jspecify.annotations.Nullable;

/**
 * The keys that blocked clients wait for, each with its queue of clients. Guarded by its own monitor (lock order:
 * docs/CONCURRENCY.md). Two volatile flags are read without it: whether any client is blocked, and whether any key is
 * reserved or the barrier is closed.
 *
 * <p>A woken client re-runs its own command. When an awaited key changes, whatever the cause, the first client of its
 * queue is <em>woken</em> under the lock of the key's shard. Its event loop re-runs the command, which takes an
 * element or keeps waiting in its old place. Until then, the key is <em>reserved</em> for it. Commands of other clients
 * wait ({@link #runWhenReleased}) if they name the key, or a key into which a client of that queue moves its result. So
 * no other client gets between the writer and the blocked client, and no element is taken for a client that has
 * disconnected. If the client takes less than everything, or the key has another type, the next client is woken under
 * the same shard lock.
 *
 * <p>If clients relate keys (they wait for several, or move their result), the keys are served in the order of their
 * changes, as in Redis ({@link WakeOrder}). A key that changes while an earlier one is reserved is <em>due</em>: its
 * first client is woken afterwards.
 *
 * <p>Commands that read keys without naming them wait at a {@link Barrier} until no key is reserved.
 *
 * <pre>
 *   waits --change of a key--> woken  --took something, timed out, disconnected--> left
 *     ^                          |
 *     +------found nothing-------+
 * </pre>
 *
 * <p>INVARIANT: while no client is woken for a key, the key holds nothing that a client in its queue waits for, except
 * for clients that were {@link #defer deferred}.
 */
public final class BlockedKeys implements ChangeListener {
    private final Cache cache;
    private final boolean overFlash;
    private final KeyCounters counters = new KeyCounters();
    private final Map<HeapKey, KeyQueue> queues = new HashMap<>();
    private final MoveGraph moves = new MoveGraph(queues);
    /** The keys for which a client was woken. */
    private final TreeMap<WakeOrder, KeyQueue> reserved = new TreeMap<>();
    /** The keys that wait for earlier reservations to end before a client is woken. */
    private final TreeMap<WakeOrder, KeyQueue> due = new TreeMap<>();
    private final WakeSequence wakeSequence = new WakeSequence();
    private final Barrier barrier = new Barrier();
    private volatile boolean anyDelayed;
    private volatile boolean anyWaiting;
    /** Position of the most recently added client. */
    private long order;
    /** Number of blocked clients that move their result into another key. */
    private int movers;

    /** @param overFlash whether a key that is not in memory may be on flash */
    public BlockedKeys(Cache cache, boolean overFlash) {
        this.cache = cache;
        this.overFlash = overFlash;
    }

    /** Result of an attempt to end another client's wait. */
    public enum Unblocking {
        ENDED,
        /** The client is not waiting. */
        NOT_WAITING,
        /**
         * The client was woken. It has to re-run its command before it is known whether it keeps waiting
         * ({@link #runWhenReleased(BlockedClient, Runnable)}).
         */
        CALLED
    }

    // --- the blocked client (its event loop holds the shard locks of its keys)

    /** Appends a client to the queues of its keys, none of which holds anything for it. */
    public synchronized void add(BlockedClient blocked) {
        blocked.order(++order);
        for (HeapKey key : blocked.keys()) {
            KeyQueue queue = queues.get(key);
            if (queue == null) {
                if (queues.isEmpty()) {
                    cache.subscribe(this);
                }
                queue = new KeyQueue(key);
                queues.put(key, queue);
                anyWaiting = true;
                counters.add(key);
            }
            if (queue.add(blocked)) {
                blocked.queues().add(queue);
            }
        }
        HeapKey target = blocked.target();
        if (target != null) {
            counters.add(target);
            movers++;
        }
    }

    /**
     * Sets the action that runs when the client is woken or its wait ends. It runs at once if that has happened
     * already.
     */
    public synchronized void onWake(BlockedClient blocked, Runnable action) {
        blocked.onWake(action);
        if (!blocked.pendingChecks().isEmpty() || blocked.end() != null) {
            action.run();
        }
    }

    /**
     * Number of the first key that the client was woken for and has not checked yet; -1 if there is none. Also puts a
     * deferred client back into its queues.
     */
    public synchronized int nextKeyToCheck(BlockedClient blocked) {
        if (blocked.isDeferred() && blocked.end() == null && blocked.pendingChecks().isEmpty()) {
            requeue(blocked);
        }
        KeyQueue queue = blocked.pendingChecks().peekFirst();
        return queue == null ? -1 : blocked.keys().indexOf(queue.key());
    }

    /**
     * The client has checked the key of {@link #nextKeyToCheck} and found nothing for it.
     *
     * @param found the key's type; null if the key does not exist
     */
    public synchronized void resumeWaiting(BlockedClient blocked, @Nullable ItemType found) {
        KeyQueue queue = blocked.pendingChecks().removeFirst();
        if (queue.takeChanged()) {
            reserveForFirst(queue);
        } else {
            BlockedClient next = found == null || found == blocked.type() ? null : queue.first(found);
            reserveFor(queue, next);
        }
    }

    /**
     * Defers a client that could not re-run its command because memory had no space for its keys. The client keeps its
     * place, but the clients behind it are woken instead until {@link #retryDeferred} lets it retry.
     */
    public synchronized void defer(BlockedClient blocked) {
        if (!blocked.isDeferred()) {
            blocked.deferred(true);
            blocked.queues().forEach(queue -> queue.defer(blocked));
        }
        while (!blocked.pendingChecks().isEmpty()) {
            KeyQueue queue = blocked.pendingChecks().removeFirst();
            queue.takeChanged();
            reserveForFirst(queue);
        }
    }

    /** Makes a deferred client retry if it still waits. @return whether that wakes its command */
    public synchronized boolean retryDeferred(BlockedClient blocked) {
        boolean waiting = !blocked.hasEnded() && blocked.end() == null && blocked.pendingChecks().isEmpty();
        if (waiting) {
            blocked.wake();
        }
        return waiting;
    }

    /** A deferred client can check its keys again. They may hold something for which no client was woken. */
    private void requeue(BlockedClient blocked) {
        blocked.deferred(false);
        blocked.queues().forEach(queue -> queue.requeue(blocked));
        blocked.queues().forEach(this::changed);
    }

    /**
     * Removes a client whose wait is over.
     *
     * @param keyEmptied whether it was woken and has left nothing in the key of {@link #nextKeyToCheck}
     */
    public synchronized void removeClient(BlockedClient blocked, boolean keyEmptied) {
        if (blocked.hasEnded()) {
            return;
        }
        blocked.markEnded();
        KeyQueue emptied = keyEmptied ? blocked.pendingChecks().peekFirst() : null;
        for (KeyQueue queue : blocked.queues()) {
            queue.remove(blocked);
        }
        for (KeyQueue queue : blocked.queues()) {
            if (blocked.equals(queue.reservedFor())) {
                // The next woken client sees this change too.
                if (queue.takeChanged() || !queue.equals(emptied)) {
                    reserveForFirst(queue);
                } else {
                    reserveFor(queue, null);
                }
            } else {
                removeIfUnused(queue);
            }
        }
        blocked.pendingChecks().clear();
        HeapKey target = blocked.target();
        if (target != null) {
            counters.remove(target);
            movers--;
        }
    }

    // --- any thread

    /** Why the wait is over; null if it is not. */
    public synchronized BlockedClient.@Nullable End endReason(BlockedClient blocked) {
        return blocked.end();
    }

    /** Ends the wait, unless the client was woken: then its re-run command decides. */
    public synchronized Unblocking end(BlockedClient blocked, BlockedClient.End why) {
        if (blocked.hasEnded() || blocked.end() != null) {
            return Unblocking.NOT_WAITING;
        }
        if (!blocked.pendingChecks().isEmpty()) {
            return Unblocking.CALLED;
        }
        blocked.end(why);
        blocked.wake();
        return Unblocking.ENDED;
    }

    /** Runs the action after the client has checked the keys it was woken for, at once if it was not called. */
    public synchronized void runWhenReleased(BlockedClient blocked, Runnable action) {
        KeyQueue queue = blocked.pendingChecks().peekFirst();
        if (queue == null) {
            action.run();
        } else {
            BarrierWaiter barrierWaiter = new BarrierWaiter(BarrierWaiter.Kind.READ);
            barrierWaiter.onRetry(action);
            queue.addWaiter(barrierWaiter);
        }
    }

    /**
     * Whether any command may have to wait for a reservation. Exact for keys whose shards the caller has locked, for
     * keys that another thread has reported to the caller, and for keys whose shards are not locked by anyone from
     * before this call until after it.
     */
    public boolean isAnyDelayed() {
        return anyDelayed;
    }

    /**
     * Whether a command that names the key has to wait. The key's shard is locked. It waits if the key is reserved for
     * another client, or if the key is awaited while the barrier is closed.
     */
    public boolean isDelayed(Key key) {
        if (!anyDelayed || !counters.mightContain(key.database(), key.address(), key.length())) {
            return false;
        }
        HeapKey name = HeapKey.of(key.database(), key.address(), key.length());
        synchronized (this) {
            return reservationOf(name) != null || isBehindBarrier(name);
        }
    }

    /**
     * Runs the action when the key may be free again, at once if it is free.
     *
     * @param barrierWaiter must not have a place yet
     * @return whether it has a place, which it keeps until it leaves
     */
    public boolean runWhenReleased(Key key, BarrierWaiter barrierWaiter, Runnable action) {
        HeapKey name = HeapKey.of(key.database(), key.address(), key.length());
        synchronized (this) {
            KeyQueue queue = reservationOf(name);
            if (queue != null) {
                barrierWaiter.onRetry(action);
                queue.addWaiter(barrierWaiter);
                return true;
            }
            if (isBehindBarrier(name)) {
                barrierWaiter.onRetry(action);
                barrier.delay(barrierWaiter);
                return true;
            }
        }
        action.run();
        return false;
    }

    private boolean isBehindBarrier(HeapKey key) {
        return barrier.isClosed() && queues.containsKey(key);
    }

    /**
     * Whether a command may read or change all keys. If so, no key is reserved. For a writer, commands that lock a
     * shard later create no reservation until it has left. If not, the command keeps its place until it leaves.
     *
     * @param again runs once the command may be admitted
     */
    public synchronized boolean admits(BarrierWaiter barrierWaiter, Runnable again) {
        boolean admitted = barrier.admits(barrierWaiter, reserved.isEmpty());
        barrierWaiter.onRetry(admitted ? null : again);
        note();
        return admitted;
    }

    /**
     * Removes a command that has run, will not run, or has made all its changes. The command was delayed, was not
     * {@link #admits admitted}, or changes keys.
     */
    public synchronized void removeWaiter(BarrierWaiter barrierWaiter) {
        barrierWaiter.onRetry(null);
        KeyQueue queue = barrierWaiter.blockingQueue();
        if (queue != null) {
            queue.removeWaiter(barrierWaiter);
        }
        barrier.remove(barrierWaiter, reserved.isEmpty());
        note();
    }

    private void note() {
        anyDelayed = !reserved.isEmpty() || barrier.isClosed();
    }

    /**
     * The queue whose reservation blocks other commands from this key: its own, or one from which a client may move an
     * element into it.
     */
    private @Nullable KeyQueue reservationOf(HeapKey key) {
        KeyQueue own = queues.get(key);
        return own != null && own.isReserved() ? own : reservedSourceOf(key);
    }

    private @Nullable KeyQueue reservedSourceOf(HeapKey key) {
        if (movers == 0) {
            return null;
        }
        KeyQueue found = moves.first(reserved.values(), key);
        return found != null ? found : moves.first(due.values(), key);
    }

    private boolean isReserved(HeapKey key) {
        KeyQueue queue = queues.get(key);
        return queue != null && queue.isReserved();
    }

    /** Number of awaited keys. */
    public synchronized int keyCount() {
        return queues.size();
    }

    // --- changes

    /**
     * Groups all changes of the calling thread until {@link #endCause} under one cause: a transaction.
     *
     * @return false if no client waits; then {@link #endCause} must not be called
     */
    public boolean beginCause() {
        if (!anyWaiting) {
            return false;
        }
        synchronized (this) {
            wakeSequence.beginCause();
        }
        return true;
    }

    /** Groups the changes of a re-run command under the cause that woke it. */
    public synchronized void beginCause(BlockedClient woken) {
        WakeOrder wakeOrder = Objects.requireNonNull(woken.pendingChecks().getFirst().wakeOrder(),
                "a wake sequence for a woken client");
        wakeSequence.beginCause(wakeOrder);
    }

    /** Ends the group that {@link #beginCause} opened. */
    public synchronized void endCause() {
        wakeSequence.endCause();
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (change != Change.SET || database < 0 || !counters.mightContain(database, keyAddress, keyLength)) {
            return;
        }
        HeapKey name = HeapKey.of(database, keyAddress, keyLength);
        synchronized (this) {
            KeyQueue queue = queues.get(name);
            if (queue != null) {
                changed(queue);
            }
        }
    }

    @Override
    public synchronized void swapped(int first, int second, Presence presence) {
        boolean begun = wakeSequence.beginCauseIfNone();
        for (KeyQueue queue : queues.values()) {
            int database = queue.key().database();
            if ((database == first || database == second)
                    && (overFlash || presence.exists(database, queue.key().bytes()))) {
                changed(queue);
            }
        }
        if (begun) {
            endCause();
        }
    }

    private void changed(KeyQueue queue) {
        if (queue.reservedFor() != null) {
            queue.noteChange();
        } else if (!queue.isDue()) {
            if (isRelatedToReserved(queue)) {
                WakeOrder wakeOrder = wakeSequence.next();
                queue.due(true);
                queue.wakeOrder(wakeOrder);
                due.put(wakeOrder, queue);
            } else {
                reserveForFirst(queue);
            }
        }
    }

    private boolean isRelatedToReserved(KeyQueue queue) {
        return queue.relatesKeys()
                && (MoveGraph.areAnyRelated(reserved.values()) || MoveGraph.areAnyRelated(due.values()))
                || reservedSourceOf(queue.key()) != null || moves.leadsToAny(queue, this::isReserved);
    }

    private void reserveForFirst(KeyQueue queue) {
        reserveFor(queue, queue.first());
    }

    /** Reserves the key for another client, or for none: then the commands behind it resume. */
    private void reserveFor(KeyQueue queue, @Nullable BlockedClient blocked) {
        queue.reservedFor(blocked);
        if (blocked != null) {
            WakeOrder wakeOrder = queue.wakeOrder();
            if (wakeOrder == null) {
                wakeOrder = wakeSequence.next();
                queue.wakeOrder(wakeOrder);
            }
            reserved.put(wakeOrder, queue);
            anyDelayed = true;
            blocked.pendingChecks().add(queue);
            blocked.wake();
        } else if (queue.wakeOrder() != null && reserved.remove(queue.wakeOrder()) != null) {
            endReservation(queue);
        }
    }

    /**
     * Ends the reservation of a key, serves the due keys and resumes the commands behind it. A due key may have lost
     * all its clients, and there may be many thousands of such keys. The loop handles them one after the other, because
     * recursion would be too deep.
     */
    private void endReservation(KeyQueue first) {
        ArrayDeque<KeyQueue> released = new ArrayDeque<>(List.of(first));
        while (!released.isEmpty()) {
            KeyQueue queue = released.remove();
            queue.wakeOrder(null);
            while (isNextDue()) {
                KeyQueue next = due.pollFirstEntry().getValue();
                next.due(false);
                if (next.first() == null) {
                    released.add(next);
                } else {
                    reserveForFirst(next);
                }
            }
            note();
            queue.wakeWaiters();
            removeIfUnused(queue);
        }
        if (reserved.isEmpty()) {
            barrier.wakeAdmissible();
        }
    }

    private boolean isNextDue() {
        return !due.isEmpty()
                && (reserved.isEmpty() || reserved.firstKey().compareTo(due.firstKey()) > 0);
    }

    private void removeIfUnused(KeyQueue queue) {
        // The queue may be removed already: a client that left several keys may have made one of them due and unused.
        if (queue.isEmpty() && !queue.isReserved() && queues.remove(queue.key(), queue)) {
            counters.remove(queue.key());
            if (queues.isEmpty()) {
                anyWaiting = false;
                cache.unsubscribe(this);
            }
        }
    }
}
