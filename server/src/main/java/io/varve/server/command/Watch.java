package io.varve.server.command;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;

import io.varve.memory.item.Item;
import io.varve.server.command.WatchedKeys.WatchedKey;

/**
 * What one client watches for its next transaction. Confined to its event loop, but for being told of changes, which any
 * thread may do under the lock of a watched key's shard.
 */
final class Watch {
    /**
     * A key when it began to be watched. Immutable.
     *
     * @param shard          whose lock guards it
     * @param existed        whether it was there
     * @param expireAtMillis its expiry time, or {@link Item#NEVER}
     */
    private record Seen(int shard, boolean existed, long expireAtMillis) {}

    private final WatchedKeys all;
    /** Read by who flushes a database: replaced, never changed. */
    private volatile Map<WatchedKey, Seen> seen = Map.of();
    private volatile boolean broken;
    /** Whether a key that was not there may have come with another database. */
    private volatile boolean exchanged;

    Watch(WatchedKeys all) {
        this.all = all;
    }

    boolean isEmpty() {
        return seen.isEmpty();
    }

    int size() {
        return seen.size();
    }

    /** Adds a key, whose shard is locked, unless it is watched already. */
    void add(WatchedKey key, int shard, boolean existed, long expireAtMillis) {
        if (seen.containsKey(key)) {
            return;
        }
        Map<WatchedKey, Seen> more = new LinkedHashMap<>(seen);
        more.put(key, new Seen(shard, existed, expireAtMillis));
        seen = more;
        all.add(key, this);
    }

    /** Watches nothing any more. */
    void clear() {
        Map<WatchedKey, Seen> keys = seen;
        seen = Map.of();
        keys.keySet().forEach(key -> all.remove(key, this));
        broken = false;
        exchanged = false;
    }

    /** A watched key has been changed. */
    void changed() {
        broken = true;
    }

    /** A watched key has gone if it was there; if it has come since, that has been told. */
    void vanished(WatchedKey key) {
        Seen before = seen.get(key);
        if (before != null && before.existed()) {
            broken = true;
        }
    }

    /** The database of a watched key was exchanged for another: the key has gone if it was there, and else may be there now. */
    void exchanged(WatchedKey key) {
        vanished(key);
        exchanged = true;
    }

    /** The shards of the keys. */
    void addShardsTo(io.varve.memory.ShardSet shards) {
        seen.values().forEach(key -> shards.add(key.shard()));
    }

    /**
     * Whether a key is not what it was. The shards of all of them are locked.
     *
     * @param exists tells whether a key is there now
     */
    boolean isBroken(long nowMillis, Predicate<WatchedKey> exists) {
        if (broken) {
            return true;
        }
        if (exchanged) {
            for (Map.Entry<WatchedKey, Seen> key : seen.entrySet()) {
                if (!key.getValue().existed() && exists.test(key.getKey())) {
                    return true;
                }
            }
        }
        // One whose time came is reclaimed some time later, and told then.
        for (Seen key : seen.values()) {
            if (key.existed() && key.expireAtMillis() != Item.NEVER && nowMillis > key.expireAtMillis()) {
                return true;
            }
        }
        return false;
    }
}
