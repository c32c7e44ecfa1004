package io.varve.memory.shard;

import io.varve.memory.item.LockWait;

/** Locks several shards in ascending order, or none if the thread gives up ({@link LockWait}). Static. */
public final class ShardLocks {
    private ShardLocks() {}

    /** @throws LockWait.GivenUpException if the thread gives up: it has locked none of them */
    public static void lockAll(Shard[] shards) {
        int locked = 0;
        try {
            while (locked < shards.length) {
                shards[locked].lock();
                locked++;
            }
        } catch (LockWait.GivenUpException givenUp) {
            while (locked > 0) {
                shards[--locked].unlock();
            }
            throw givenUp;
        }
    }

    /** As {@link #lockAll}, for the shards of a set. */
    public static void lock(Shard[] shards, ShardSet set) {
        int next = set.next(0);
        try {
            while (next >= 0) {
                shards[next].lock();
                next = set.next(next + 1);
            }
        } catch (LockWait.GivenUpException givenUp) {
            for (int locked = set.next(0); locked < next; locked = set.next(locked + 1)) {
                shards[locked].unlock();
            }
            throw givenUp;
        }
    }
}
