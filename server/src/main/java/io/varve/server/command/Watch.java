package io.varve.server.command;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.varve.memory.ShardSet;
import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.server.keys.NamedKey;
import io.varve.server.resp.ArgumentMemory;

/**
 * What one client watches for its next transaction. Confined to its event loop, but for the {@link Round}, which is told of
 * changes by any thread.
 */
public final class Watch {
    /** What a key takes on the heap, here and where it is looked for, beside its bytes. */
    private static final int KEY_OVERHEAD_BYTES = 512;

    /**
     * A key when it began to be watched. Immutable.
     *
     * @param hash            of the key
     * @param shard           whose lock guards it
     * @param existed         whether it was there
     * @param changesAtMillis when it expires or a field of it is due, or {@link Item#NEVER}
     */
    private record Seen(long hash, int shard, boolean existed, long changesAtMillis) {}

    /**
     * The keys watched for one transaction. Keys are added by the client's event loop, under the lock of their shard; any thread tells
     * of changes, under the lock of a changed key's shard. One that is told late, when the keys are let go of already, tells
     * a round that nobody asks any more.
     */
    static final class Round {
        private final Map<NamedKey, Seen> seen = new ConcurrentHashMap<>();
        private volatile boolean broken;

        /** A watched key has been changed. */
        void changed() {
            broken = true;
        }

        /** A watched key has gone if it was there; if it has come since, that has been told. */
        void vanished(NamedKey key) {
            Seen before = seen.get(key);
            if (before != null && before.existed()) {
                broken = true;
            }
        }
    }

    private final WatchedKeys all;
    private final ArgumentMemory memory;
    private Round round = new Round();
    private long charged;
    /** Written by the client's event loop, read by those who tell of clients. */
    private volatile int keyCount;

    /** @param memory what the keys are charged to */
    Watch(WatchedKeys all, ArgumentMemory memory) {
        this.all = all;
        this.memory = memory;
    }

    /**
     * Adds a key, whose shard is locked, unless it is watched already.
     *
     * @return false if the heap has no room for it: the next transaction is not to run
     */
    public boolean add(Key key, boolean existed, long changesAtMillis) {
        // Before it is copied: a key may have half a gigabyte.
        long bytes = KEY_OVERHEAD_BYTES + NamedKey.heapBytes(key.length());
        if (!memory.takePiece(bytes)) {
            round.changed();
            return false;
        }
        NamedKey name = NamedKey.of(key.database(), key.address(), key.length());
        if (round.seen.containsKey(name)) {
            memory.give(bytes);
            return true;
        }
        charged += bytes;
        round.seen.put(name, new Seen(key.hash(), key.shard(), existed, changesAtMillis));
        all.add(name, round);
        keyCount = round.seen.size();
        return true;
    }

    /** How many keys are watched. */
    public int keyCount() {
        return keyCount;
    }

    /** Watches nothing any more. */
    public void clear() {
        Round over = round;
        if (over.seen.isEmpty() && !over.broken) {
            return;
        }
        round = new Round();
        over.seen.keySet().forEach(key -> all.remove(key, over));
        memory.give(charged);
        charged = 0;
        keyCount = 0;
    }

    /** The hashes of the keys. */
    public long[] hashes() {
        return round.seen.values().stream().mapToLong(Seen::hash).toArray();
    }

    /** The shards of the keys. */
    public void addShardsTo(ShardSet shards) {
        round.seen.values().forEach(key -> shards.add(key.shard()));
    }

    /** Whether a change of a key has been told. */
    public boolean isToldBroken() {
        return round.broken;
    }

    /** Whether a key is not what it was. The shards of all of them are locked. */
    public boolean isBroken(long nowMillis) {
        if (round.broken) {
            return true;
        }
        // One whose time came is reclaimed some time later, and told then.
        for (Seen key : round.seen.values()) {
            if (key.existed() && key.changesAtMillis() != Item.NEVER && nowMillis > key.changesAtMillis()) {
                return true;
            }
        }
        return false;
    }
}
