package io.varve.memory.shard.context;

import org.jspecify.annotations.Nullable;

/**
 * The state of a {@link ShardLock}, on cache lines of its own: without the space before and after it, each lock
 * operation would take a line that readers on other cores need for something else. Fields that every write of a
 * shard changes belong here: a core then takes one line from another and not several.
 */
abstract sealed class ShardLockState extends ShardLockSpace permits ShardLock {
    /** State and number of acquisitions, see {@link ShardLock}. */
    @SuppressWarnings("unused") // accessed through a VarHandle
    long word;
    /** The thread that holds the lock; meaningful to that thread only, and possibly stale to others. */
    long owner;
    /** The number of changes of the shard's keys so far. Guarded by this lock. */
    long changes;
    /** The number of nested holds beyond the first. */
    int nestedHolds;
    /** Whether the next unlock renews the present reservation. Guarded by this lock. */
    boolean renewed;
    /** The callbacks, newest first; null if there are none. Any thread adds one; the lock holder takes them. */
    @SuppressWarnings("unused") // accessed through a VarHandle
    ShardLock.@Nullable UnlockCallback callbacks;
}
