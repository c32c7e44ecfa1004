package io.varve.server.tracking;

import java.util.Iterator;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.LongFunction;

import io.varve.memory.Cache;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.pubsub.Name;
import io.varve.server.pubsub.Subscriptions;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * Sends invalidations to clients that cache what they read (CLIENT TRACKING). Many threads: concurrent maps and queues,
 * and a lock of its own that is last in the lock order.
 *
 * <p>A key is remembered under the lock of its shard, under which it was read, and changes are reported under that lock
 * too. So no change occurs in between. A change removes the key and is queued, and the thread that made it sends the
 * invalidation after it has released its locks. A later read of the client then sees the newer value, because it needs
 * the lock that the change held.
 *
 * <p>No invalidation is lost. If there is no memory to remember a key, its client is invalidated at once. If there is
 * none to queue a key, the client receives an invalidation of all keys, which needs no memory.
 */
public final class Tracking implements ChangeListener {
    /** The client whose commands the thread executes. */
    private static final ThreadLocal<@Nullable Tracker> RUNNING = new ThreadLocal<>();
    /** Heap bytes of a queued invalidation beside the key's bytes, including its place in a message. */
    private static final int NOTE_HEAP_BYTES = 160;
    /** Maximum key bytes of one broadcast, unless a single key is longer. */
    private static final long MAX_BROADCAST_BYTES = 1L << 20;
    /** Maximum number of keys that are evicted for another one. */
    private static final int MAX_EVICTED_PER_KEY = 4;
    /** Maximum number of pairs that are visited, and of keys that are evicted, at a time. */
    private static final int SWEEP_ITEMS = 2048;

    /** An invalid key. Immutable, as are its clients. */
    private static final class Noted {
        private final byte[] key;
        private final @Nullable TrackingClients readers;
        private final @Nullable Tracker by;
        private final boolean broadcast;

        Noted(byte[] key, @Nullable TrackingClients readers, @Nullable Tracker by, boolean broadcast) {
            this.key = key;
            this.readers = readers;
            this.by = by;
            this.broadcast = broadcast;
        }

        long heapBytes() {
            return NOTE_HEAP_BYTES + key.length + heapBytesOf(readers);
        }

        static long heapBytesOf(@Nullable TrackingClients readers) {
            return readers == null ? 0 : readers.heapBytes();
        }
    }

    private final Cache cache;
    private final RequestHeapBudget memory;
    private final LongFunction<@Nullable Subscriptions> clients;
    private final TrackedKeys keys;
    private final Set<Tracker> trackers = ConcurrentHashMap.newKeySet();
    private final Queue<Noted> noted = new ConcurrentLinkedQueue<>();
    /** Guarded by {@code this}, except for reads. */
    private volatile BroadcastPrefixes prefixes = BroadcastPrefixes.NONE;
    /** Whether all cached keys are invalid. */
    private volatile boolean everything;
    /** Clients whose cached keys are all invalid, because a key could not be queued. */
    private final Set<Tracker> missed = ConcurrentHashMap.newKeySet();
    /** Whether a thread is sending queued invalidations. */
    private volatile boolean sending;
    private volatile long maxKeys;

    /**
     * @param memory exclusive budget of remembered keys and of invalidations
     * @param clients finds a client's subscriptions by its id
     */
    public Tracking(Cache cache, RequestHeapBudget memory, LongFunction<@Nullable Subscriptions> clients,
            long maxKeys) {
        this.cache = cache;
        this.memory = memory;
        this.clients = clients;
        this.maxKeys = maxKeys;
        keys = new TrackedKeys(memory);
    }

    // --- tracking clients

    /** Starts to track for a client. */
    public synchronized Tracker begin(Subscriptions client, TrackingOptions options) {
        Tracker tracker = new Tracker(this, client, options);
        if (trackers.isEmpty()) {
            cache.subscribe(this);
        }
        trackers.add(tracker);
        prefixes = prefixes.with(tracker);
        return tracker;
    }

    /** Changes a client's options. */
    public synchronized void change(Tracker tracker, TrackingOptions options) {
        BroadcastPrefixes others = prefixes.without(tracker);
        tracker.options(options);
        prefixes = others.with(tracker);
    }

    /** Ends a client's tracking. */
    public synchronized void end(Tracker tracker) {
        if (!trackers.remove(tracker)) {
            return;
        }
        tracker.end();
        if (tracker.equals(RUNNING.get())) {
            RUNNING.remove();
        }
        prefixes = prefixes.without(tracker);
        keys.requestSweep();
        if (trackers.isEmpty()) {
            cache.unsubscribe(this);
        }
    }

    /** Sets {@code tracking-table-max-keys}; 0: as many as the budget allows. */
    public void maxKeys(long value) {
        maxKeys = value;
    }

    public long clientCount() {
        return trackers.size();
    }

    /** Keys that at least one client may have cached. */
    public long keyCount() {
        return keys.keyCount();
    }

    /** Pairs of a key and a client that may have cached it. */
    public long itemCount() {
        return keys.itemCount();
    }

    /** Distinct key prefixes that clients broadcast on. */
    public long prefixCount() {
        return prefixes.prefixCount();
    }

    // --- reads and changes, under the lock of the key's shard

    /** Sets the client whose commands the thread executes; null: one that does not track. */
    public void running(@Nullable Tracker tracker) {
        if (tracker == null) {
            RUNNING.remove();
        } else {
            RUNNING.set(tracker);
        }
    }

    /** The client whose commands the calling thread executes. */
    public static @Nullable Tracker running() {
        return RUNNING.get();
    }

    void remember(Tracker tracker, Key key) {
        boolean added = keys.add(key.address(), key.length(), tracker);
        for (int i = 0; !added && i < MAX_EVICTED_PER_KEY && keys.evict(this::evicted); i++) {
            added = keys.add(key.address(), key.length(), tracker);
        }
        if (!added) {
            note(key.address(), key.length(), TrackingClients.of(tracker), null, false);
        } else if (isOverFull()) {
            keys.evict(this::evicted);
        }
    }

    private boolean isOverFull() {
        long max = maxKeys;
        return max > 0 && keys.keyCount() > max;
    }

    private void evicted(Name key, TrackingClients readers) {
        note(new Noted(key.bytes(), readers, null, false));
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (database < 0 || change == Change.INTERNAL) {
            return;
        }
        TrackingClients readers = keys.remove(keyAddress, keyLength);
        boolean broadcast = prefixes.hasSubscribers(keyAddress, keyLength);
        if (readers != null || broadcast) {
            note(keyAddress, keyLength, readers, isByClient(change) ? RUNNING.get() : null, broadcast);
        }
    }

    private static boolean isByClient(Change change) {
        return switch (change) {
            case SET, INTERNAL, EXPIRY_SET, PERSISTED, DELETED -> true;
            case EXPIRED, FIELDS_EXPIRED, EMPTIED, EVICTED, DEMOTED, DROPPED -> false;
        };
    }

    @Override
    public void flushed(int database) {
        keys.clear();
        everything = true;
    }

    @Override
    public void swapped(int first, int second, Presence presence) {
        keys.clear();
        everything = true;
    }

    private void note(long address, int length, @Nullable TrackingClients readers, @Nullable Tracker by,
            boolean broadcast) {
        // Reserved before the copy: a key may have half a gigabyte.
        long ownBytes = NOTE_HEAP_BYTES + (long) length;
        if (!memory.tryReservePiece(ownBytes)) {
            miss(readers, broadcast);
        } else if (!memory.tryReserve(Noted.heapBytesOf(readers))) {
            memory.release(ownBytes);
            miss(readers, broadcast);
        } else {
            noted.add(new Noted(Memory.toArray(address, length), readers, by, broadcast));
        }
    }

    private void note(Noted evicted) {
        if (memory.tryReserve(evicted.heapBytes())) {
            noted.add(evicted);
        } else {
            miss(evicted.readers, false);
        }
    }

    private void miss(@Nullable TrackingClients readers, boolean broadcast) {
        if (readers != null) {
            readers.forEach(missed::add);
        }
        if (broadcast) {
            prefixes.forEach(missed::add);
        }
    }

    // --- called without shard locks

    /** Sends queued invalidations, at least all that the calling thread has queued. */
    public void flushNotifications() {
        // ORDER: reads sending last, which is set while invalidations are out of the queue and not sent yet.
        if (everything || !missed.isEmpty() || !noted.isEmpty() || sending) {
            sendAll();
        }
    }

    private synchronized void sendAll() {
        sending = true;
        try {
            sendNoted();
        } finally {
            sending = false;
        }
    }

    private void sendNoted() {
        if (everything) {
            everything = false;
            trackers.forEach(tracker -> send(tracker, null));
        }
        for (Iterator<Tracker> each = missed.iterator(); each.hasNext();) {
            Tracker tracker = each.next();
            // ORDER: removed before it is sent, so that a later miss causes a new message.
            each.remove();
            if (!tracker.isEnded()) {
                send(tracker, null);
            }
        }
        BroadcastKeys gathered = new BroadcastKeys(prefixes);
        long gatheredHeapBytes = 0;
        try {
            for (Noted next = noted.poll(); next != null; next = noted.poll()) {
                gatheredHeapBytes += next.heapBytes();
                sendToReaders(next);
                if (next.broadcast) {
                    gathered.add(next.key, next.by);
                }
                if (gathered.bytes() >= MAX_BROADCAST_BYTES) {
                    gathered.forEachMessage(this::send);
                    memory.release(gatheredHeapBytes);
                    gatheredHeapBytes = 0;
                    gathered = new BroadcastKeys(prefixes);
                }
            }
            gathered.forEachMessage(this::send);
        } finally {
            memory.release(gatheredHeapBytes);
        }
    }

    private void sendToReaders(Noted invalid) {
        if (invalid.readers != null) {
            invalid.readers.forEach(tracker -> {
                // A client that broadcasts at this moment was another tracker when it read the key.
                boolean own = tracker.options().noLoop() && tracker.equals(invalid.by);
                if (!own && !tracker.isEnded() && !tracker.options().broadcasts()) {
                    send(tracker, new byte[][] {invalid.key});
                }
            });
        }
    }

    /** @param invalid the keys; null: everything */
    private void send(Tracker tracker, byte @Nullable [][] invalid) {
        TrackingOptions options = tracker.options();
        Subscriptions to = tracker.own();
        if (options.redirect() != 0) {
            to = clients.apply(options.redirect());
            if (to == null) {
                tracker.breakRedirection();
                BrokenRedirection.deliver(options.redirect(), tracker.own(), memory);
                return;
            }
        }
        if (invalid == null || !Invalidation.deliver(invalid, to, options.redirect() != 0, memory)) {
            tracker.forgetEverything(to);
        }
    }

    /** A slice of the periodic housekeeping: it removes ended clients and surplus keys. */
    public void maintain() {
        keys.sweep(SWEEP_ITEMS);
        for (int i = 0; i < SWEEP_ITEMS && isOverFull() && keys.evict(this::evicted); i++) {
            // One key was evicted.
        }
        flushNotifications();
    }
}
