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
import io.varve.server.keys.KeyCounters;
import io.varve.server.keys.NamedKey;
import org.jspecify.annotations.Nullable;

/**
 * The keys that clients wait for, each with its queue. Guarded by its own lock, which is taken last; only the question whether a
 * key is promised at all, or the barrier down, is answered without.
 *
 * <p>A waiter looks for itself. When a key that is waited for changes, whatever changed it, the first of its queue is
 * <em>called</em>, under the lock of the key's shard: its event loop runs its command once more, which takes what there is or
 * waits on in its old place. Until it has looked, the key is <em>promised</em> to it: commands of others that name it, or a key into
 * which somebody of that queue puts what it finds, run behind it ({@link #behind}), so that nobody comes between who changed the key
 * and who waited for it, and nothing is taken for a client that is not there to be told. Has it left something, or has the key
 * another type, the next one is called, still under that lock.
 *
 * <p>Where waiters relate keys (they wait for several, or move what they find), the keys are served in the order of their changes,
 * as in Redis ({@link Ticket}): one that changes while an earlier one is promised is <em>due</em>, and its first waiter is called
 * after that.
 *
 * <p>Commands that look at keys which they do not name wait until nothing is promised at all, at a {@link Barrier}.
 *
 * <pre>
 *   waits --change of a key--> called --took something, end of time, gone--> left
 *     ^                          |
 *     +------found nothing-------+
 * </pre>
 *
 * <p>INVARIANT: while nobody is called for a key, there is nothing in it that somebody in its queue waits for, but for those that were
 * {@link #putOff put off}.
 */
public final class BlockedKeys implements ChangeListener {
    private final Cache cache;
    private final boolean overFlash;
    private final KeyCounters counters = new KeyCounters();
    private final Map<NamedKey, KeyQueue> queues = new HashMap<>();
    private final Paths paths = new Paths(queues);
    /** Those for which somebody was called. */
    private final TreeMap<Ticket, KeyQueue> promised = new TreeMap<>();
    /** Those for which somebody is to be called once earlier promises are kept. */
    private final TreeMap<Ticket, KeyQueue> due = new TreeMap<>();
    private final Tickets tickets = new Tickets();
    private final Barrier barrier = new Barrier();
    private volatile boolean anyHeldUp;
    private volatile boolean anyWaiting;
    /** The place of who came last. */
    private long order;
    /** How many waiters put what they find into another key. */
    private int movers;

    /** @param overFlash whether a key that is not in memory may be on flash */
    public BlockedKeys(Cache cache, boolean overFlash) {
        this.cache = cache;
        this.overFlash = overFlash;
    }

    /** What came of an attempt to end the waiting of another client. */
    public enum Unblocking {
        ENDED,
        /** It does not wait any more. */
        NOT_WAITING,
        /** It was called: whether it goes on waiting is known after it has looked ({@link #behind(Waiter, Runnable)}). */
        CALLED
    }

    // --- who waits (the shards of its keys are locked by its event loop)

    /** Puts a client at the end of the queues of its keys, in none of which there is anything for it. */
    public synchronized void add(Waiter waiter) {
        waiter.order(++order);
        for (NamedKey key : waiter.keys()) {
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
            if (queue.add(waiter)) {
                waiter.queues().add(queue);
            }
        }
        NamedKey target = waiter.target();
        if (target != null) {
            counters.add(target);
            movers++;
        }
    }

    /** Says what is to be done when it is called or its waiting is ended: at once if it has been already, else once. */
    public synchronized void onWake(Waiter waiter, Runnable action) {
        waiter.onWake(action);
        if (!waiter.calls().isEmpty() || waiter.end() != null) {
            action.run();
        }
    }

    /** The number of the key that it has been called for first and has not looked at, and now can; -1 if there is none. */
    public synchronized int nextCall(Waiter waiter) {
        if (waiter.isPutOff() && waiter.end() == null && waiter.calls().isEmpty()) {
            putBack(waiter);
        }
        KeyQueue queue = waiter.calls().peekFirst();
        return queue == null ? -1 : waiter.keys().indexOf(queue.key());
    }

    /**
     * It has looked at the key of {@link #nextCall} and found nothing for it.
     *
     * @param found the type that the key has; null if it is not there
     */
    public synchronized void declined(Waiter waiter, @Nullable ItemType found) {
        KeyQueue queue = waiter.calls().removeFirst();
        if (queue.takeChanged()) {
            callFirst(queue);
        } else {
            Waiter next = found == null || found == waiter.type() ? null : queue.first(found);
            call(queue, next);
        }
    }

    /**
     * It could not look at what it has been called for, as memory had no room for its keys: it keeps its place, but those behind it are
     * called in its stead until it can look, at {@link #lookAgain}.
     */
    public synchronized void putOff(Waiter waiter) {
        if (!waiter.isPutOff()) {
            waiter.putOff(true);
            waiter.queues().forEach(queue -> queue.putOff(waiter));
        }
        while (!waiter.calls().isEmpty()) {
            KeyQueue queue = waiter.calls().removeFirst();
            queue.takeChanged();
            callFirst(queue);
        }
    }

    /** Has one that was put off look again, if it waits. @return whether its command runs now because of that */
    public synchronized boolean lookAgain(Waiter waiter) {
        boolean waits = !waiter.left() && waiter.end() == null && waiter.calls().isEmpty();
        if (waits) {
            waiter.wake();
        }
        return waits;
    }

    /** One that was put off can look: in its keys there may be something that nobody was called for. */
    private void putBack(Waiter waiter) {
        waiter.putOff(false);
        waiter.queues().forEach(queue -> queue.putBack(waiter));
        waiter.queues().forEach(this::changed);
    }

    /**
     * It waits no more.
     *
     * @param nothingLeft whether it has been called, and has left nothing in the key of {@link #nextCall}
     */
    public synchronized void leave(Waiter waiter, boolean nothingLeft) {
        if (waiter.left()) {
            return;
        }
        waiter.leave();
        KeyQueue emptied = nothingLeft ? waiter.calls().peekFirst() : null;
        for (KeyQueue queue : waiter.queues()) {
            queue.remove(waiter);
        }
        for (KeyQueue queue : waiter.queues()) {
            if (waiter.equals(queue.called())) {
                // Whoever is called now looks at the change too.
                if (queue.takeChanged() || !queue.equals(emptied)) {
                    callFirst(queue);
                } else {
                    call(queue, null);
                }
            } else {
                removeIfUnused(queue);
            }
        }
        waiter.calls().clear();
        NamedKey target = waiter.target();
        if (target != null) {
            counters.remove(target);
            movers--;
        }
    }

    // --- any thread

    /** Why the waiting is over; null if it is not. */
    public synchronized Waiter.@Nullable End endOf(Waiter waiter) {
        return waiter.end();
    }

    /** Ends the waiting, unless it has been called: then that decides. */
    public synchronized Unblocking end(Waiter waiter, Waiter.End why) {
        if (waiter.left() || waiter.end() != null) {
            return Unblocking.NOT_WAITING;
        }
        if (!waiter.calls().isEmpty()) {
            return Unblocking.CALLED;
        }
        waiter.end(why);
        waiter.wake();
        return Unblocking.ENDED;
    }

    /** Done once the waiter has looked at what it was called for, be it at once. */
    public synchronized void behind(Waiter waiter, Runnable action) {
        KeyQueue queue = waiter.calls().peekFirst();
        if (queue == null) {
            action.run();
        } else {
            Pass pass = new Pass(Pass.Kind.LOOK);
            pass.again(action);
            queue.addBehind(pass);
        }
    }

    /**
     * Whether any command may have to wait for promises. Exact for keys whose shards the caller has locked, or of which it was told by
     * others.
     */
    public boolean isAnyHeldUp() {
        return anyHeldUp;
    }

    /**
     * Whether who names the key, whose shard is locked, is not to run: it is promised to somebody, or would be while others wait until
     * nothing is promised.
     */
    public boolean isHeldUp(Key key) {
        if (!anyHeldUp || !counters.mayHold(key.database(), key.address(), key.length())) {
            return false;
        }
        NamedKey name = NamedKey.of(key.database(), key.address(), key.length());
        synchronized (this) {
            return promiseOf(name) != null || isBehindBarrier(name);
        }
    }

    /**
     * Done once the key may not be held up any more, be it at once.
     *
     * @param pass without a place
     * @return whether it has one now, which it keeps until it has left
     */
    public boolean behind(Key key, Pass pass, Runnable action) {
        NamedKey name = NamedKey.of(key.database(), key.address(), key.length());
        synchronized (this) {
            KeyQueue queue = promiseOf(name);
            if (queue != null) {
                pass.again(action);
                queue.addBehind(pass);
                return true;
            }
            if (isBehindBarrier(name)) {
                pass.again(action);
                barrier.holdUp(pass);
                return true;
            }
        }
        action.run();
        return false;
    }

    private boolean isBehindBarrier(NamedKey key) {
        return barrier.isDown() && queues.containsKey(key);
    }

    /**
     * Whether a command may look at all keys, or change them: nothing is promised, and for one that changes nothing will be until it
     * has left, by those at least who lock a shard after this. If not, it keeps its place until it has left.
     *
     * @param again done once it may be so
     */
    public synchronized boolean admits(Pass pass, Runnable again) {
        boolean admitted = barrier.admits(pass, promised.isEmpty());
        pass.again(admitted ? null : again);
        note();
        return admitted;
    }

    /** A command that was held up, or was not {@link #admits admitted}, or has changed all that it would, has run, or will not. */
    public synchronized void leave(Pass pass) {
        pass.again(null);
        KeyQueue queue = pass.behind();
        if (queue != null) {
            queue.removeBehind(pass);
        }
        barrier.leave(pass, promised.isEmpty());
        note();
    }

    private void note() {
        anyHeldUp = !promised.isEmpty() || barrier.isDown();
    }

    /** The queue because of which others are not to use a key now: its own, or one from which somebody may put something into it. */
    private @Nullable KeyQueue promiseOf(NamedKey key) {
        KeyQueue own = queues.get(key);
        return own != null && own.isPromised() ? own : whatLeadsTo(key);
    }

    private @Nullable KeyQueue whatLeadsTo(NamedKey key) {
        if (movers == 0) {
            return null;
        }
        KeyQueue found = paths.first(promised.values(), key);
        return found != null ? found : paths.first(due.values(), key);
    }

    private boolean isPromised(NamedKey key) {
        KeyQueue queue = queues.get(key);
        return queue != null && queue.isPromised();
    }

    /** How many keys are waited for. */
    public synchronized int keyCount() {
        return queues.size();
    }

    // --- changes

    /**
     * What the calling thread changes until {@link #endCause} is one: a transaction.
     *
     * @return false if nobody waits: it is not to be ended
     */
    public boolean beginCause() {
        if (!anyWaiting) {
            return false;
        }
        synchronized (this) {
            tickets.beginCause();
        }
        return true;
    }

    /** The same where a waiter looks at what it was called for: it is part of what it was called by. */
    public synchronized void beginCause(Waiter looking) {
        Ticket ticket = Objects.requireNonNull(looking.calls().getFirst().ticket(), "a ticket of who was called");
        tickets.beginCause(ticket);
    }

    /** See {@link #beginCause}. */
    public synchronized void endCause() {
        tickets.endCause();
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (change != Change.SET || database < 0 || !counters.mayHold(database, keyAddress, keyLength)) {
            return;
        }
        NamedKey name = NamedKey.of(database, keyAddress, keyLength);
        synchronized (this) {
            KeyQueue queue = queues.get(name);
            if (queue != null) {
                changed(queue);
            }
        }
    }

    @Override
    public synchronized void swapped(int first, int second, Presence presence) {
        boolean begun = tickets.beginCauseUnlessThereIsOne();
        for (KeyQueue queue : queues.values()) {
            int database = queue.key().database();
            if ((database == first || database == second)
                    && (overFlash || presence.isThere(database, queue.key().bytes()))) {
                changed(queue);
            }
        }
        if (begun) {
            endCause();
        }
    }

    private void changed(KeyQueue queue) {
        if (queue.called() != null) {
            queue.noteChange();
        } else if (!queue.isDue()) {
            if (isRelatedToPromised(queue)) {
                Ticket ticket = tickets.next();
                queue.due(true);
                queue.ticket(ticket);
                due.put(ticket, queue);
            } else {
                callFirst(queue);
            }
        }
    }

    private boolean isRelatedToPromised(KeyQueue queue) {
        return queue.relatesKeys() && (Paths.areAnyRelated(promised.values()) || Paths.areAnyRelated(due.values()))
                || whatLeadsTo(queue.key()) != null || paths.leadsToAny(queue, this::isPromised);
    }

    private void callFirst(KeyQueue queue) {
        call(queue, queue.first());
    }

    /** Promises the key to another waiter than before, or to none: then who waits behind it goes on. */
    private void call(KeyQueue queue, @Nullable Waiter waiter) {
        queue.called(waiter);
        if (waiter != null) {
            Ticket ticket = queue.ticket();
            if (ticket == null) {
                ticket = tickets.next();
                queue.ticket(ticket);
            }
            promised.put(ticket, queue);
            anyHeldUp = true;
            waiter.calls().add(queue);
            waiter.wake();
        } else if (queue.ticket() != null && promised.remove(queue.ticket()) != null) {
            kept(queue);
        }
    }

    /**
     * The promise of a key was kept, or is void: what is due behind it is served, and what waits behind it goes on. A key that is
     * due may be waited for by nobody any more, and many thousands may: one after the other, not each within the one before.
     */
    private void kept(KeyQueue first) {
        ArrayDeque<KeyQueue> kept = new ArrayDeque<>(List.of(first));
        while (!kept.isEmpty()) {
            KeyQueue queue = kept.remove();
            queue.ticket(null);
            while (isNextDue()) {
                KeyQueue next = due.pollFirstEntry().getValue();
                next.due(false);
                if (next.first() == null) {
                    kept.add(next);
                } else {
                    callFirst(next);
                }
            }
            note();
            queue.letGoBehind();
            removeIfUnused(queue);
        }
        if (promised.isEmpty()) {
            barrier.nothingIsPromised();
        }
    }

    private boolean isNextDue() {
        return !due.isEmpty()
                && (promised.isEmpty() || promised.firstKey().compareTo(due.firstKey()) > 0);
    }

    private void removeIfUnused(KeyQueue queue) {
        // It may have been removed already: who leaves several keys may have made one of them due, and forgotten.
        if (queue.isEmpty() && !queue.isPromised() && queues.remove(queue.key(), queue)) {
            counters.remove(queue.key());
            if (queues.isEmpty()) {
                anyWaiting = false;
                cache.unsubscribe(this);
            }
        }
    }
}
