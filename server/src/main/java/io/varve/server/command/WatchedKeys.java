package io.varve.server.command;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicIntegerArray;

import io.varve.memory.Cache;
import io.varve.memory.item.Change;
import io.varve.memory.item.ChangeListener;
import io.varve.memory.offheap.Memory;

/**
 * Which keys are watched, and by whom (WATCH). Many threads: a key is added under the lock of its shard, under which its changes
 * are told too, so none comes in between; the rest is concurrent maps and counters.
 *
 * <p>Only while a key is watched does it listen to changes, and then most of them end at a counter: what is allocated to
 * look a key up is paid by changes of keys whose counter tells of a watched one.
 */
final class WatchedKeys implements ChangeListener {
    private static final int COUNTERS = 4096;
    /** Of FNV-1a. */
    private static final int HASH_SEED = 0x811C9DC5;
    private static final int HASH_FACTOR = 0x01000193;

    private final Cache cache;
    private final boolean overFlash;
    private final AtomicIntegerArray counters = new AtomicIntegerArray(COUNTERS);
    private final ConcurrentHashMap<WatchedKey, Set<Watch.Round>> watches = new ConcurrentHashMap<>();
    /** Keys times who watches them; guarded by this. */
    private long total;

    /** @param overFlash whether keys that are not in memory may be on flash */
    WatchedKeys(Cache cache, boolean overFlash) {
        this.cache = cache;
        this.overFlash = overFlash;
    }

    /**
     * A key of a logical database. Immutable.
     *
     * @param name its bytes as ISO 8859-1
     */
    record WatchedKey(int database, String name) {
        private int counter() {
            int hash = HASH_SEED;
            for (int i = 0; i < name.length(); i++) {
                hash = mix(hash, (byte) name.charAt(i));
            }
            return counterOf(hash, database);
        }
    }

    private static int mix(int hash, byte b) {
        return (hash ^ b & 0xFF) * HASH_FACTOR;
    }

    private static int counterOf(int hash, int database) {
        int mixed = hash + database * 0x9E3779B9;
        return (mixed ^ mixed >>> 16) & COUNTERS - 1;
    }

    /** From now on changes of the key are told to the watch. The caller holds the lock of the key's shard. */
    void add(WatchedKey key, Watch.Round watch) {
        synchronized (this) {
            if (total == 0) {
                cache.subscribe(this);
            }
            total++;
        }
        counters.incrementAndGet(key.counter());
        watches.compute(key, (_, watching) -> {
            Set<Watch.Round> set = watching == null ? ConcurrentHashMap.newKeySet() : watching;
            set.add(watch);
            return set;
        });
    }

    void remove(WatchedKey key, Watch.Round watch) {
        watches.computeIfPresent(key, (_, watching) -> {
            watching.remove(watch);
            return watching.isEmpty() ? null : watching;
        });
        counters.decrementAndGet(key.counter());
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
        if (database < 0) {
            return;
        }
        int hash = HASH_SEED;
        for (int i = 0; i < keyLength; i++) {
            hash = mix(hash, Memory.getByte(keyAddress + i));
        }
        if (counters.get(counterOf(hash, database)) == 0) {
            return;
        }
        String name = new String(Memory.toArray(keyAddress, keyLength), StandardCharsets.ISO_8859_1);
        Set<Watch.Round> watching = watches.get(new WatchedKey(database, name));
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

    private static boolean isInEither(WatchedKey key, int first, int second, Presence presence) {
        byte[] name = key.name().getBytes(StandardCharsets.ISO_8859_1);
        return presence.isThere(first, name) || presence.isThere(second, name);
    }
}
