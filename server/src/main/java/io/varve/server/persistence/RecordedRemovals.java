package io.varve.server.persistence;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import io.varve.memory.Cache;
import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.item.Ticker;

/**
 * Records the changes that are not the effect of a command on its keys: expiry and eviction, in memory or on flash,
 * as DEL; flushes and swaps of databases. Any thread calls it, under the lock of the key's shard; guarded by its own
 * monitor.
 */
public final class RecordedRemovals implements ChangeListener {
    private final ChangeStream stream;
    private final CacheSession session;
    private final Ticker ticker;
    private final ChangeRecorder shared;
    private final Cache cache;
    private final List<Runnable> onLoss = new CopyOnWriteArrayList<>();
    private volatile boolean skipsFlushes;
    /** The log, the replicas: while there is one, it listens to the cache. Guarded by itself. */
    private final Set<Object> users = Collections.newSetFromMap(new IdentityHashMap<>());

    public RecordedRemovals(ChangeStream stream, Cache cache) {
        this.stream = stream;
        this.cache = cache;
        session = cache.newSession();
        ticker = cache.config().ticker();
        shared = new ChangeRecorder(stream, session);
    }

    /** Adds an action for when the flash tier has lost all of its keys: called under the locks of all shards. */
    public void onLoss(Runnable action) {
        onLoss.add(action);
    }

    /** Records removals from now on, for this user of the stream among others. */
    public void use(Object user) {
        synchronized (users) {
            if (users.add(user) && users.size() == 1) {
                cache.subscribe(this);
            }
        }
    }

    /** Ends {@link #use}. */
    public void disuse(Object user) {
        synchronized (users) {
            if (users.remove(user) && users.isEmpty()) {
                cache.unsubscribe(this);
            }
        }
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        switch (change) {
            case EXPIRED, EMPTIED, EVICTED, DROPPED -> {
                // Keys of a flushed database are gone for the stream already.
                if (database >= 0 && stream.isOn()) {
                    removed(database, keyAddress, keyLength);
                }
            }
            // Commands make these changes, and are recorded themselves; or nothing is visible to clients.
            case SET, INTERNAL, EXPIRY_SET, PERSISTED, DELETED, FIELDS_EXPIRED, DEMOTED -> {
            }
        }
    }

    @Override
    public void fieldsExpire(int database, long keyAddress, int keyLength, Fields fields) {
        if (database < 0 || !stream.isOn()) {
            return;
        }
        ChangeRecorder transaction = ChangeRecorder.ofTransaction();
        if (transaction != null) {
            delete(transaction, database, keyAddress, keyLength, fields);
            return;
        }
        synchronized (this) {
            delete(atPresent(), database, keyAddress, keyLength, fields);
        }
    }

    private static void delete(ChangeRecorder recorder, int database, long keyAddress, int keyLength, Fields fields) {
        ChangeRecorder command = recorder.begin(database, RecordedCommand.HDEL, 2 + fields.count()).argument(keyAddress,
                keyLength);
        fields.forEach(command::argument);
        command.end();
    }

    private void removed(int database, long keyAddress, int keyLength) {
        ChangeRecorder transaction = ChangeRecorder.ofTransaction();
        if (transaction != null) {
            delete(transaction, database, keyAddress, keyLength);
            return;
        }
        synchronized (this) {
            delete(atPresent(), database, keyAddress, keyLength);
        }
    }

    private static void delete(ChangeRecorder recorder, int database, long keyAddress, int keyLength) {
        recorder.begin(database, RecordedCommand.DEL, 2).argument(keyAddress, keyLength).end();
    }

    private ChangeRecorder atPresent() {
        session.now(ticker.wallMillis());
        return shared;
    }

    /** Runs an action whose flushes are not recorded. */
    public void withoutFlushes(Runnable flush) {
        skipsFlushes = true;
        try {
            flush.run();
        } finally {
            skipsFlushes = false;
        }
    }

    @Override
    public void flushed(int database) {
        if (!stream.isOn() || skipsFlushes) {
            return;
        }
        ChangeRecorder transaction = ChangeRecorder.ofTransaction();
        if (transaction != null) {
            flush(transaction, database);
            return;
        }
        synchronized (this) {
            flush(atPresent(), database);
        }
    }

    @Override
    public void lost(int database) {
        if (stream.isOn()) {
            onLoss.forEach(Runnable::run);
        }
    }

    private static void flush(ChangeRecorder recorder, int database) {
        recorder.begin(database, RecordedCommand.FLUSHDB, 1).end();
    }

    @Override
    public void swapped(int first, int second, Presence presence) {
        if (!stream.isOn()) {
            return;
        }
        ChangeRecorder transaction = ChangeRecorder.ofTransaction();
        if (transaction != null) {
            swap(transaction, first, second);
            return;
        }
        synchronized (this) {
            swap(atPresent(), first, second);
        }
    }

    private static void swap(ChangeRecorder recorder, int first, int second) {
        recorder.begin(first, RecordedCommand.SWAPDB, 3).argument(first).argument(second).end();
    }
}
