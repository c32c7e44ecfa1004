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
import io.varve.server.resp.ArgumentMemory;
import org.jspecify.annotations.Nullable;

/**
 * Tells clients that cache what they read (CLIENT TRACKING) of keys that change. Many threads: concurrent maps and queues, and a lock of its
 * own that is taken last.
 *
 * <p>A key is remembered under the lock of its shard, under which it was read, and changes are told under that lock too: so none comes in
 * between. A change takes the key out and is noted, and who has made it tells the clients once it has let go of its locks. What a client
 * reads after it was told is then the newer value, because its read needs the lock that the change had.
 *
 * <p>Nothing is left out: where there is no room to remember a key, its client is told at once; where there is none to tell of a key, the
 * client is told that all keys are invalid, for which no room is needed.
 */
public final class Tracking implements ChangeListener {
    /** Whose commands a thread executes. */
    private static final ThreadLocal<@Nullable Tracker> RUNNING = new ThreadLocal<>();
    /** What is noted of a change, on the heap, beside the key's bytes: a place among the keys of a message too. */
    private static final int NOTE_HEAP_BYTES = 160;
    /** Broadcasting clients are told of so many bytes of keys at once, or of one longer key. */
    private static final long MOST_BROADCAST_BYTES = 1L << 20;
    /** Keys that go, at most, to make room for another. */
    private static final int MOST_EVICTED_FOR_ONE = 4;
    /** So many who may have cached something are looked at, and so many keys go, at once. */
    private static final int SWEEP_ITEMS = 2048;

    /**
     * A key that is invalid. Immutable, as are those who may have cached it.
     */
    private static final class Noted {
        private final byte[] key;
        private final @Nullable Readers who;
        private final @Nullable Tracker by;
        private final boolean broadcast;

        Noted(byte[] key, @Nullable Readers who, @Nullable Tracker by, boolean broadcast) {
            this.key = key;
            this.who = who;
            this.by = by;
            this.broadcast = broadcast;
        }

        long heapBytes() {
            return NOTE_HEAP_BYTES + key.length + heapBytesOf(who);
        }

        static long heapBytesOf(@Nullable Readers who) {
            return who == null ? 0 : who.heapBytes();
        }
    }

    private final Cache cache;
    private final ArgumentMemory memory;
    private final LongFunction<@Nullable Subscriptions> clients;
    private final TrackedKeys keys;
    private final Set<Tracker> trackers = ConcurrentHashMap.newKeySet();
    private final Queue<Noted> noted = new ConcurrentLinkedQueue<>();
    /** Guarded by this, but for reads. */
    private volatile Broadcasts broadcasts = Broadcasts.NONE;
    /** Whether all that is cached is invalid. */
    private volatile boolean everything;
    /** Those for whom it is, because there was no room to note a key. */
    private final Set<Tracker> missed = ConcurrentHashMap.newKeySet();
    /** Whether somebody tells what was noted. */
    private volatile boolean telling;
    private volatile long maxKeys;

    /**
     * @param memory  what is remembered and told is charged to: nothing else
     * @param clients finds what a client listens to by its number
     */
    public Tracking(Cache cache, ArgumentMemory memory, LongFunction<@Nullable Subscriptions> clients, long maxKeys) {
        this.cache = cache;
        this.memory = memory;
        this.clients = clients;
        this.maxKeys = maxKeys;
        keys = new TrackedKeys(memory);
    }

    // --- who tracks

    /** The client tracks from now on. */
    public synchronized Tracker begin(Subscriptions client, TrackingOptions options) {
        Tracker tracker = new Tracker(this, client, options);
        if (trackers.isEmpty()) {
            cache.subscribe(this);
        }
        trackers.add(tracker);
        broadcasts = broadcasts.with(tracker);
        return tracker;
    }

    /** Its wishes change. */
    public synchronized void change(Tracker tracker, TrackingOptions options) {
        Broadcasts others = broadcasts.without(tracker);
        tracker.options(options);
        broadcasts = others.with(tracker);
    }

    /** The client tracks no more. */
    public synchronized void end(Tracker tracker) {
        if (!trackers.remove(tracker)) {
            return;
        }
        tracker.end();
        if (tracker.equals(RUNNING.get())) {
            RUNNING.remove();
        }
        broadcasts = broadcasts.without(tracker);
        keys.wantSweep();
        if (trackers.isEmpty()) {
            cache.unsubscribe(this);
        }
    }

    /** {@code tracking-table-max-keys}; 0: as many as there is room for. */
    public void maxKeys(long value) {
        maxKeys = value;
    }

    public long clientCount() {
        return trackers.size();
    }

    /** Keys that somebody may have cached. */
    public long keyCount() {
        return keys.keyCount();
    }

    /** Keys times who may have cached them. */
    public long itemCount() {
        return keys.itemCount();
    }

    /** Different prefixes of keys that somebody is told of. */
    public long prefixCount() {
        return broadcasts.prefixCount();
    }

    // --- what is read and changed, under the lock of the key's shard

    /** The thread executes commands of this client, or of none that tracks. */
    public void running(@Nullable Tracker tracker) {
        if (tracker == null) {
            RUNNING.remove();
        } else {
            RUNNING.set(tracker);
        }
    }

    /** Whose commands the calling thread executes. */
    static @Nullable Tracker running() {
        return RUNNING.get();
    }

    void remember(Tracker tracker, Key key) {
        boolean added = keys.add(key.address(), key.length(), tracker);
        for (int i = 0; !added && i < MOST_EVICTED_FOR_ONE && keys.evict(this::evicted); i++) {
            added = keys.add(key.address(), key.length(), tracker);
        }
        if (!added) {
            note(key.address(), key.length(), Readers.of(tracker), null, false);
        } else if (isOverFull()) {
            keys.evict(this::evicted);
        }
    }

    private boolean isOverFull() {
        long most = maxKeys;
        return most > 0 && keys.keyCount() > most;
    }

    private void evicted(Name key, Readers who) {
        note(new Noted(key.bytes(), who, null, false));
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (database < 0) {
            return;
        }
        Readers who = keys.remove(keyAddress, keyLength);
        boolean broadcast = broadcasts.isTold(keyAddress, keyLength);
        if (who != null || broadcast) {
            note(keyAddress, keyLength, who, isByClient(change) ? RUNNING.get() : null, broadcast);
        }
    }

    private static boolean isByClient(Change change) {
        return switch (change) {
            case SET, EXPIRY_SET, PERSISTED, DELETED -> true;
            // Flash may let what fell go without a word.
            case EXPIRED, FIELDS_EXPIRED, EMPTIED, EVICTED, FELL -> false;
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

    private void note(long address, int length, @Nullable Readers who, @Nullable Tracker by, boolean broadcast) {
        // Before it is copied: a key may have half a gigabyte.
        long ownBytes = NOTE_HEAP_BYTES + (long) length;
        if (!memory.takePiece(ownBytes)) {
            miss(who, broadcast);
        } else if (!memory.take(Noted.heapBytesOf(who))) {
            memory.give(ownBytes);
            miss(who, broadcast);
        } else {
            noted.add(new Noted(Memory.toArray(address, length), who, by, broadcast));
        }
    }

    private void note(Noted evicted) {
        if (memory.take(evicted.heapBytes())) {
            noted.add(evicted);
        } else {
            miss(evicted.who, false);
        }
    }

    private void miss(@Nullable Readers who, boolean broadcast) {
        if (who != null) {
            who.forEach(missed::add);
        }
        if (broadcast) {
            broadcasts.forEach(missed::add);
        }
    }

    // --- without such locks

    /** Tells what has been noted, all that the calling thread has noted at the least. */
    public void tell() {
        // ORDER: what was taken out and is not told yet shows in the last of these.
        if (everything || !missed.isEmpty() || !noted.isEmpty() || telling) {
            tellAll();
        }
    }

    private synchronized void tellAll() {
        telling = true;
        try {
            tellNoted();
        } finally {
            telling = false;
        }
    }

    private void tellNoted() {
        if (everything) {
            everything = false;
            trackers.forEach(tracker -> tell(tracker, null));
        }
        for (Iterator<Tracker> each = missed.iterator(); each.hasNext();) {
            Tracker tracker = each.next();
            // ORDER: before it is told, so that what is missed from now on is told anew.
            each.remove();
            if (!tracker.isEnded()) {
                tell(tracker, null);
            }
        }
        BroadcastKeys gathered = new BroadcastKeys(broadcasts);
        long gatheredHeapBytes = 0;
        try {
            for (Noted next = noted.poll(); next != null; next = noted.poll()) {
                gatheredHeapBytes += next.heapBytes();
                tellReaders(next);
                if (next.broadcast) {
                    gathered.add(next.key, next.by);
                }
                if (gathered.bytes() >= MOST_BROADCAST_BYTES) {
                    gathered.forEachMessage(this::tell);
                    memory.give(gatheredHeapBytes);
                    gatheredHeapBytes = 0;
                    gathered = new BroadcastKeys(broadcasts);
                }
            }
            gathered.forEachMessage(this::tell);
        } finally {
            memory.give(gatheredHeapBytes);
        }
    }

    private void tellReaders(Noted invalid) {
        if (invalid.who != null) {
            invalid.who.forEach(tracker -> {
                // One that broadcasts by now was another when it read the key.
                boolean own = tracker.options().noLoop() && tracker.equals(invalid.by);
                if (!own && !tracker.isEnded() && !tracker.options().broadcasts()) {
                    tell(tracker, new byte[][] {invalid.key});
                }
            });
        }
    }

    /** @param invalid the keys; null: everything */
    private void tell(Tracker tracker, byte @Nullable [][] invalid) {
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

    /** A part of what has to be done now and then: clients that have gone are taken out, and keys that are too many. */
    public void maintain() {
        keys.sweep(SWEEP_ITEMS);
        for (int i = 0; i < SWEEP_ITEMS && isOverFull() && keys.evict(this::evicted); i++) {
            // One more has gone.
        }
        tell();
    }
}
