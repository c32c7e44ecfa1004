package io.varve.server.command;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.varve.memory.Cache;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.server.keys.KeyCounters;
import io.varve.server.keys.NamedKey;

/**
 * Which keys are watched, and by whom (WATCH). Many threads: a key is added under the lock of its shard, under which its changes
 * are told too, so none comes in between; the rest is concurrent maps and counters.
 *
 * <p>Only while a key is watched does it listen to changes, and then most of them end at a counter.
 */
final class WatchedKeys implements ChangeListener {
    private final Cache cache;
    private final boolean overFlash;
    private final KeyCounters counters = new KeyCounters();
    private final ConcurrentHashMap<NamedKey, Set<Watch.Round>> watches = new ConcurrentHashMap<>();
    /** Keys times who watches them; guarded by this. */
    private long total;

    /** @param overFlash whether keys that are not in memory may be on flash */
    WatchedKeys(Cache cache, boolean overFlash) {
        this.cache = cache;
        this.overFlash = overFlash;
    }

    /** From now on changes of the key are told to the watch. The caller holds the lock of the key's shard. */
    void add(NamedKey key, Watch.Round watch) {
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

    void remove(NamedKey key, Watch.Round watch) {
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

    /** How many keys are watched, each counted once for each client that watches it. */
    synchronized long total() {
        return total;
    }

    @Override
    public void changed(Change change, int shard, long sequence, int database, long keyAddress, int keyLength) {
        if (database < 0 || !counters.mayHold(database, keyAddress, keyLength)) {
            return;
        }
        Set<Watch.Round> watching = watches.get(NamedKey.of(database, keyAddress, keyLength));
        if (watching != null) {
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

    private static boolean isInEither(NamedKey key, int first, int second, Presence presence) {
        byte[] name = key.bytes();
        return presence.isThere(first, name) || presence.isThere(second, name);
    }
}
