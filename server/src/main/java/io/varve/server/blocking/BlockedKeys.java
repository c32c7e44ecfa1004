package io.varve.server.blocking;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

import io.varve.memory.Cache;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.shard.ShardSet;
import io.varve.server.keys.HeapKey;
import io.varve.server.keys.KeyCounters;
import org.jspecify.annotations.Nullable;

/**
 * The keys that blocked clients wait for, each with its queue of clients. Guarded by its own monitor (lock order:
 * docs/CONCURRENCY.md). Two volatile flags are read without it: whether any client is blocked, and whether any blocked
 * client moves its element.
 *
 * <p>Blocked clients are <em>served</em> before the command that made their keys ready unlocks its shards. So no other
 * client sees the element in between, as in Redis, which serves them before the next command. The command's thread
 * collects the awaited keys that it changes ({@link #collect}) and then runs the pops of their clients in order of
 * arrival ({@link #serve}). It holds the monitor meanwhile: the results of two serving threads then have one order,
 * even for clients that wait for several keys. The event loops of the clients only send the replies.
 *
 * <p>A pop that cannot run there, and a change by a thread that collects nothing, make the client <em>re-run</em> its
 * command on its event loop. It keeps its place, but others may take the element first.
 *
 * <p>INVARIANT: while no shard of a key is locked, the key holds nothing that a client in its queue waits for, except
 * for clients that are to re-run their commands.
 */
public final class BlockedKeys implements ChangeListener {
    private final Cache cache;
    private final KeyCounters counters = new KeyCounters();
    private final Map<HeapKey, KeyQueue> queues = new HashMap<>();
    private final MoveTargets moveTargets;
    /** Where the thread's command collects ready keys, while it runs. */
    @SuppressWarnings("ThreadLocalUsage") // each server has its own
    private final ThreadLocal<@Nullable ReadyKeys> collecting = new ThreadLocal<>();
    private volatile boolean anyWaiting;
    /** Position of the most recently added client. */
    private long order;

    public BlockedKeys(Cache cache) {
        this.cache = cache;
        moveTargets = new MoveTargets(cache.shardCount());
    }

    // --- the blocked client (its event loop holds the shard locks of its keys)

    /** Appends a client to the queues of its keys, none of which holds anything for it. */
    public synchronized void add(BlockedClient blocked) {
        blocked.order(++order);
        HeapKey target = blocked.target();
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
                if (target != null) {
                    moveTargets.add(key, target, blocked.targetShard());
                }
            }
        }
    }

    /**
     * Sets the action that runs when the client's wait ends or its command is to run again. It runs at once if that has
     * happened already.
     */
    public synchronized void onWake(BlockedClient blocked, Runnable action) {
        blocked.onWake(action);
        if (blocked.end() != null || blocked.isRerunRequested()) {
            action.run();
        }
    }

    /**
     * Begins a re-run of the client's command. Until the shards are unlocked, no other thread serves the client.
     *
     * @return false if the wait has ended: the command must not take anything
     */
    public synchronized boolean beginRerun(BlockedClient blocked) {
        blocked.rerunRequested(false);
        return blocked.end() == null;
    }

    // --- any thread

    /** Removes a client whose wait is over. Without effect if it has left already. */
    public synchronized void remove(BlockedClient blocked) {
        if (blocked.queues().isEmpty()) {
            return;
        }
        HeapKey target = blocked.target();
        for (KeyQueue queue : blocked.queues()) {
            queue.remove(blocked);
            if (target != null) {
                moveTargets.remove(queue.key(), target, blocked.targetShard());
            }
            if (queue.isEmpty()) {
                queues.remove(queue.key());
                counters.remove(queue.key());
            }
        }
        blocked.queues().clear();
        if (queues.isEmpty()) {
            anyWaiting = false;
            cache.unsubscribe(this);
        }
    }

    /** Why the wait is over; null if it is not. */
    public synchronized BlockedClient.@Nullable End endReason(BlockedClient blocked) {
        return blocked.end();
    }

    /** Ends the wait without a result. @return false if it is over already */
    public synchronized boolean end(BlockedClient blocked, BlockedClient.End why) {
        if (blocked.queues().isEmpty()) {
            return false;
        }
        finish(blocked, why);
        return true;
    }

    private void finish(BlockedClient blocked, BlockedClient.End why) {
        remove(blocked);
        blocked.end(why);
        blocked.wake();
    }

    /** Has the clients of all matching keys run their commands again. */
    public synchronized void rerun(Predicate<HeapKey> keys) {
        for (KeyQueue queue : queues.values()) {
            if (keys.test(queue.key())) {
                queue.clients().forEach(BlockedKeys::requestRerun);
            }
        }
    }

    /** Number of awaited keys. */
    public synchronized int keyCount() {
        return queues.size();
    }

    // --- the thread that changes keys (it holds the locks of their shards)

    /** Whether any client is blocked. Exact for keys whose shards the caller has locked. */
    public boolean isAnyWaiting() {
        return anyWaiting;
    }

    /** Whether any blocked client moves its element. Exact for keys whose shards the caller has locked. */
    public boolean isAnyMoving() {
        return moveTargets.isAny();
    }

    /**
     * Adds the shards into which blocked clients may move elements of a key, directly or over further keys. Exact if
     * the caller has locked the key's shard and those that are added.
     */
    public void addReachable(Key key, ShardSet shards) {
        if (moveTargets.mightMoveFrom(key)) {
            String name = HeapKey.of(key.database(), key.address(), key.length()).name();
            synchronized (this) {
                moveTargets.addReachable(name, shards);
            }
        }
    }

    /** Starts to collect the awaited keys that the calling thread changes. {@link #serve} must follow. */
    public void collect(ReadyKeys into) {
        collecting.set(into);
    }

    /**
     * Runs an action that may remove keys of shards that the calling thread does not hold: their clients re-run their
     * commands.
     */
    public boolean withoutCollecting(BooleanSupplier action) {
        ReadyKeys into = collecting.get();
        collecting.remove();
        try {
            return action.getAsBoolean();
        } finally {
            if (into != null) {
                collecting.set(into);
            }
        }
    }

    /** Serves the clients of the collected keys, and those that become ready by that. Ends the collection. */
    public void serve(ReadyKeys ready, PopRunner pops) {
        try {
            if (!ready.isEmpty()) {
                serveAll(ready, pops);
            }
        } finally {
            ready.clear();
            collecting.remove();
        }
    }

    private synchronized void serveAll(ReadyKeys ready, PopRunner pops) {
        KeyQueue queue = ready.poll();
        try {
            for (; queue != null; queue = ready.poll()) {
                if (pops.open(queue.key())) {
                    serve(queue, pops);
                } else {
                    queue.clients().forEach(BlockedKeys::requestRerun);
                }
            }
        } finally {
            // Something has gone wrong: the clients that are left find out for themselves what there is for them.
            for (; queue != null; queue = ready.poll()) {
                queue.clients().forEach(BlockedKeys::requestRerun);
            }
        }
    }

    private void serve(KeyQueue queue, PopRunner pops) {
        ItemType type = pops.type();
        if (type != null) {
            serve(queue, type, pops);
        }
        for (BlockedClient blocked : queue.servedWithoutValue(type)) {
            switch (pops.pop(blocked)) {
                case SERVED, SERVED_LAST -> finish(blocked, BlockedClient.End.SERVED);
                case RERUN -> requestRerun(blocked);
                case SKIPPED, NOTHING -> {
                    // It has disconnected.
                }
            }
        }
    }

    private void serve(KeyQueue queue, ItemType type, PopRunner pops) {
        for (BlockedClient blocked = queue.next(type, 0); blocked != null; blocked = queue.next(type,
                blocked.order())) {
            switch (pops.pop(blocked)) {
                case SERVED -> finish(blocked, BlockedClient.End.SERVED);
                case SERVED_LAST -> {
                    finish(blocked, BlockedClient.End.SERVED);
                    return;
                }
                case RERUN -> requestRerun(blocked);
                case SKIPPED -> {
                    // The clients behind it are served.
                }
                case NOTHING -> {
                    return;
                }
            }
        }
    }

    private static void requestRerun(BlockedClient blocked) {
        blocked.rerunRequested(true);
        blocked.wake();
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        boolean isRemoved = switch (change) {
            case DELETED, EXPIRED, EMPTIED, EVICTED, DROPPED -> true;
            case SET, INTERNAL, EXPIRY_SET, PERSISTED, FIELDS_EXPIRED, DEMOTED -> false;
        };
        if (change == Change.SET || isRemoved) {
            ready(database, keyAddress, keyLength, isRemoved);
        }
    }

    /** Has the clients of a key served although no value was written. The calling thread holds the key's shard. */
    public void ready(Key key) {
        ready(key.database(), key.address(), key.length(), false);
    }

    private void ready(int database, long keyAddress, int keyLength, boolean isRemoved) {
        if (database < 0 || !counters.mightContain(database, keyAddress, keyLength)) {
            return;
        }
        HeapKey name = HeapKey.of(database, keyAddress, keyLength);
        synchronized (this) {
            KeyQueue queue = queues.get(name);
            if (queue != null && (!isRemoved || queue.servesWithoutValue())) {
                changed(queue);
            }
        }
    }

    @Override
    public synchronized void flushed(int database) {
        for (KeyQueue queue : queues.values()) {
            if (queue.key().database() == database && queue.servesWithoutValue()) {
                changed(queue);
            }
        }
    }

    @Override
    public synchronized void swapped(int first, int second, Presence presence) {
        for (KeyQueue queue : queues.values()) {
            int database = queue.key().database();
            if (database == first || database == second) {
                changed(queue);
            }
        }
    }

    private void changed(KeyQueue queue) {
        ReadyKeys ready = collecting.get();
        if (ready == null) {
            queue.clients().forEach(BlockedKeys::requestRerun);
        } else {
            ready.add(queue);
        }
    }
}
