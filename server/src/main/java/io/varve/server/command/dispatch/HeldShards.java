package io.varve.server.command.dispatch;

import io.varve.memory.CacheSession;
import io.varve.memory.ShardSet;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;

/**
 * How the commands of an event loop wait for shards that others hold for long: not with the event loop, which would make all of its clients wait for
 * one slow command of another loop. Confined to that loop.
 *
 * <p>Who finds a shard held looks for it for about as long as maintenance holds one, some times over. Then its command, which has done nothing, runs again
 * after some milliseconds, and what its client sent behind it waits with it. While a shard is known to be held, the next who come do not wait for it at all.
 */
final class HeldShards {
    /** Half a millisecond: longer than a slice of maintenance. */
    private static final int PATIENCE_NAPS = 7;

    private final CacheSession session;
    /** Known to be held until that time, but for those that have been locked since. */
    private final ShardSet held;
    private long knownUntilMillis;

    HeldShards(CacheSession session, int shardCount) {
        this.session = session;
        held = new ShardSet(shardCount);
    }

    /** Locks the shard of a key, which was just held; false if the command is to run again later. */
    boolean lock(Invocation call, Key key) {
        if (call.client().waiter() != null) {
            // It has been called, and what it takes is kept for it.
            session.lock(key);
        } else if (!session.lockWithin(key, patience(known().contains(key.shard())))) {
            putOff(call, key.shard());
            return false;
        }
        held.remove(key.shard());
        return true;
    }

    /** Locks all shards of a set, or none: false if the command is to run again later. */
    boolean lock(Invocation call, ShardSet shards) {
        if (call.client().waiter() != null) {
            session.lock(shards);
            return true;
        }
        int shard = session.lockWithin(shards, patience(known().intersects(shards)));
        if (shard >= 0) {
            putOff(call, shard);
            return false;
        }
        held.removeAll(shards);
        return true;
    }

    /** Who has one for as long as that may have let go of it: it is waited for as for any other. */
    private ShardSet known() {
        if (session.now() > knownUntilMillis) {
            held.clear();
        }
        return held;
    }

    private static int patience(boolean isHeld) {
        return isHeld ? 0 : PATIENCE_NAPS;
    }

    private void putOff(Invocation call, int shard) {
        long wait = call.client().nextShardWait(session.now());
        held.add(shard);
        knownUntilMillis = session.now() + wait;
        call.runAgainIn(wait);
    }
}
