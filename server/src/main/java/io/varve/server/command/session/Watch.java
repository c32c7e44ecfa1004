package io.varve.server.command.session;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.varve.memory.item.Item;
import io.varve.memory.item.Key;
import io.varve.memory.shard.ShardSet;
import io.varve.server.keys.HeapKey;
import io.varve.server.resp.RequestHeapBudget;

/**
 * The keys that one client watches for its next transaction. Confined to its event loop, except for the {@link Round},
 * which any thread may mark as broken.
 */
public final class Watch {
    /** Heap bytes of a watched key, here and in the index of watched keys, beside its own bytes. */
    private static final int KEY_OVERHEAD_BYTES = 512;

    /**
     * A key's state when its watch began. Immutable.
     *
     * @param hash the key's hash
     * @param shard the shard whose lock guards the key
     * @param existed whether the key existed
     * @param changesAtMillis when the key or one of its fields expires, or {@link Item#NEVER}
     */
    private record Seen(long hash, int shard, boolean existed, long changesAtMillis) {}

    /**
     * The keys watched for one transaction. The client's event loop adds keys under the lock of their shard; any thread
     * reports changes under the lock of the changed key's shard. A late report, after the watch has ended, reaches an
     * unused round and has no effect.
     */
    static final class Round {
        private final Map<HeapKey, Seen> seen = new ConcurrentHashMap<>();
        private volatile boolean broken;

        /** Marks the round as broken, because a watched key has changed. */
        void changed() {
            broken = true;
        }

        /**
         * Marks the round as broken if the vanished key existed when its watch began. A key created later was reported
         * as changed already.
         */
        void vanished(HeapKey key) {
            Seen before = seen.get(key);
            if (before != null && before.existed()) {
                broken = true;
            }
        }
    }

    private final WatchedKeys all;
    private final RequestHeapBudget memory;
    private Round round = new Round();
    private long charged;
    /** Written by the client's event loop, read by CLIENT LIST and INFO. */
    private volatile int keyCount;

    /** @param memory heap budget that the keys are charged to */
    public Watch(WatchedKeys all, RequestHeapBudget memory) {
        this.all = all;
        this.memory = memory;
    }

    /**
     * Adds a key, whose shard is locked, unless it is watched already.
     *
     * @return false if the heap budget is exhausted: the next transaction must not run
     */
    public boolean add(Key key, boolean existed, long changesAtMillis) {
        // Charged before the copy, because a key may have half a gigabyte.
        long bytes = KEY_OVERHEAD_BYTES + HeapKey.heapBytes(key.length());
        if (!memory.tryReservePiece(bytes)) {
            round.changed();
            return false;
        }
        HeapKey name = HeapKey.of(key.database(), key.address(), key.length());
        if (round.seen.containsKey(name)) {
            memory.release(bytes);
            return true;
        }
        charged += bytes;
        round.seen.put(name, new Seen(key.hash(), key.shard(), existed, changesAtMillis));
        all.add(name, round);
        keyCount = round.seen.size();
        return true;
    }

    /** Number of watched keys. */
    public int keyCount() {
        return keyCount;
    }

    /** Ends the watch of all keys. */
    public void clear() {
        Round over = round;
        if (over.seen.isEmpty() && !over.broken) {
            return;
        }
        round = new Round();
        over.seen.keySet().forEach(key -> all.remove(key, over));
        memory.release(charged);
        charged = 0;
        keyCount = 0;
    }

    /** The hashes of the watched keys. */
    public long[] hashes() {
        return round.seen.values().stream().mapToLong(Seen::hash).toArray();
    }

    /** Adds the shards of the watched keys. */
    public void addShardsTo(ShardSet shards) {
        round.seen.values().forEach(key -> shards.add(key.shard()));
    }

    /** Whether a change of a watched key was reported. */
    public boolean hasReportedChange() {
        return round.broken;
    }

    /** Whether a watched key has changed or expired. The shards of all watched keys are locked. */
    public boolean isBroken(long nowMillis) {
        if (round.broken) {
            return true;
        }
        // An expired key is reclaimed some time later, and reported only then.
        for (Seen key : round.seen.values()) {
            if (key.existed() && key.changesAtMillis() != Item.NEVER && nowMillis > key.changesAtMillis()) {
                return true;
            }
        }
        return false;
    }
}
