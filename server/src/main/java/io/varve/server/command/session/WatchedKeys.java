package io.varve.server.command.session;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.varve.memory.Cache;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.server.keys.HeapKey;
import io.varve.server.keys.KeyCounters;

/**
 * The index from watched keys to their watchers (WATCH). Thread-safe: a key is added under the lock of its shard, which
 * also covers the reports of its changes, so no change is missed. The rest is concurrent maps and counters.
 *
 * <p>It is subscribed to changes only while a key is watched, and a counter filters out most changes of other keys.
 */
public final class WatchedKeys implements ChangeListener {
    private final Cache cache;
    private final boolean overFlash;
    private final KeyCounters counters = new KeyCounters();
    private final ConcurrentHashMap<HeapKey, Set<Watch.Round>> watches = new ConcurrentHashMap<>();
    /** Number of (key, watcher) pairs; guarded by this. */
    private long total;

    /** @param overFlash whether keys that are not in memory may be on flash */
    public WatchedKeys(Cache cache, boolean overFlash) {
        this.cache = cache;
        this.overFlash = overFlash;
    }

    /** Reports later changes of the key to the watch. The caller holds the lock of the key's shard. */
    void add(HeapKey key, Watch.Round watch) {
        synchronized (this) {
            if (total == 0) {
                cache.subscribe(this);
            }
            total++;
        }
        counters.add(key);
        watches.compute(key, (_, watching) -> {
            Set<Watch.Round> set = watching == null ? ConcurrentHashMap.newKeySet() : watching;
            set.add(watch);
            return set;
        });
    }

    void remove(HeapKey key, Watch.Round watch) {
        watches.computeIfPresent(key, (_, watching) -> {
            watching.remove(watch);
            return watching.isEmpty() ? null : watching;
        });
        counters.remove(key);
        synchronized (this) {
            if (--total == 0) {
                cache.unsubscribe(this);
            }
        }
    }

    /** Number of watched keys, each counted once per watching client. */
    public synchronized long total() {
        return total;
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (database < 0 || change == Change.INTERNAL || !counters.mightContain(database, keyAddress, keyLength)) {
            return;
        }
        HeapKey key = HeapKey.of(database, keyAddress, keyLength);
        Set<Watch.Round> watching = watches.get(key);
        if (watching == null) {
            return;
        }
        if (change == Change.EXPIRED || change == Change.EMPTIED) {
            // An expired item of another database, which SWAPDB moved here, is no key to a client.
            watching.forEach(watch -> watch.vanished(key));
        } else {
            watching.forEach(Watch.Round::changed);
        }
    }

    @Override
    public void flushed(int database) {
        watches.forEach((key, watching) -> {
            if (key.database() == database) {
                watching.forEach(watch -> watch.vanished(key));
            }
        });
    }

    @Override
    public void swapped(int first, int second, Presence presence) {
        watches.forEach((key, watching) -> {
            boolean affected = key.database() == first || key.database() == second;
            if (affected && (overFlash || isInEither(key, first, second, presence))) {
                watching.forEach(Watch.Round::changed);
            }
        });
    }

    private static boolean isInEither(HeapKey key, int first, int second, Presence presence) {
        byte[] name = key.bytes();
        return presence.exists(first, name) || presence.exists(second, name);
    }
}
