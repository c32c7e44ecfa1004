package io.varve.memory.shard.context;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

import io.varve.memory.item.LockWait;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a shard: reentrant, not fair. Thread-safe.
 *
 * <p>Most commands hold it for well under a microsecond, and maintenance for at most 200 microseconds, so it is rarely
 * contended. A command that walks or copies a large collection holds it for that whole time; a caller that cannot wait
 * so long uses {@link #lockWithin}. Unlock is a release store, so it avoids the full fence that a compare-and-set would
 * need. In return, waiters must poll: first they spin, then they yield, then they sleep for short times.
 *
 * <p>A caller that cannot wait registers a callback ({@link #onUnlock}), which unlock runs. The lock is then reserved
 * for the called threads for a few milliseconds. Otherwise a thread that takes the lock repeatedly, for long each time,
 * would starve all others.
 *
 * <p>A transaction holds the locks of all its commands while each command locks and unlocks its own again.
 *
 * <p>The lock word is also the shard's version, because each acquisition raises it. A reader without the lock takes the
 * version ({@link #version}), reads, and {@linkplain #isUnchanged asks} whether anybody has held the lock since. This
 * is a sequence lock: the reader writes nothing, so cores do not take each other's cache line. The memory orders are
 * those of java.util.concurrent.locks.StampedLock.
 */
public final class ShardLock extends ShardLockState {
    /** The states, in the low bits of the lock word; the bits above count the acquisitions. */
    private static final long FREE = 0;
    private static final long HELD = 1;
    /** Reserved for called threads, and for those that have waited for a while; perhaps none of them comes. */
    private static final long RESERVED = 2;
    private static final int STATE_BITS = 2;
    private static final long STATE_MASK = (1 << STATE_BITS) - 1;
    private static final long ONE_ACQUISITION = 1 << STATE_BITS;
    /** A result of {@link #version}: a thread holds the lock. No lock word is negative. */
    public static final long NO_VERSION = -1;
    /** No thread has this number. */
    private static final long NO_THREAD = 0;
    /** Spins for some microseconds: longer than a command, shorter than a slice of maintenance. */
    private static final int SPINS = 64;
    private static final int YIELDS = 16;
    private static final long SLEEP_NANOS = 20_000;
    /** After this many naps, some milliseconds, a thread ignores reservations for others. */
    private static final int RESPECTED_NAPS = 30;
    /** After this many naps, a waiting thread asks whether it has to go on waiting. */
    private static final int NAPS_PER_CHECK = 2 * RESPECTED_NAPS;

    private static final VarHandle WORD;
    private static final VarHandle CALLBACKS;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WORD = lookup.findVarHandle(ShardLockState.class, "word", long.class);
            CALLBACKS = lookup.findVarHandle(ShardLockState.class, "callbacks", UnlockCallback.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    @SuppressWarnings("unused") // they only keep other objects away from the state
    private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

    /** A callback, and the one registered before it. Immutable. */
    record UnlockCallback(Runnable action, @Nullable UnlockCallback next) {}

    /**
     * Waits until the lock is free or the caller's own, and takes it.
     *
     * @throws LockWait.GivenUpException if the thread gives up: it does not hold the lock
     */
    public void lock() {
        boolean locked = tryLock() || lockLater(NAPS_PER_CHECK, false);
        while (!locked) {
            LockWait.check();
            locked = lockLater(NAPS_PER_CHECK, false);
        }
    }

    /**
     * Takes the lock, if it becomes available within a number of naps or is the caller's own.
     *
     * @param naps how often the caller sleeps; 0: it polls for some microseconds and does not sleep; -1: it polls
     *     once
     * @param called whether the caller runs because its callback was called
     * @return false if another thread still holds it
     */
    public boolean lockWithin(int naps, boolean called) {
        return tryLock() || called && tryReserved() || lockLater(naps, called);
    }

    /**
     * Registers a callback that an unlocking thread runs once, while it may hold other locks: at the next unlock, or,
     * if that is in progress, at one after it.
     */
    public void onUnlock(Runnable callback) {
        UnlockCallback newest;
        do {
            newest = (UnlockCallback) CALLBACKS.getOpaque(this);
        } while (!CALLBACKS.compareAndSet(this, newest, new UnlockCallback(callback, newest)));
    }

    /**
     * Renews the reservation for the threads that were called last and delays other callbacks. The caller holds the
     * lock.
     */
    public void renewReservation() {
        assert isHeldByMe() : "not locked by this thread";
        renewed = true;
    }

    /**
     * Gives up the reservation of a called thread. The lock is reserved for the threads that are called next, if any.
     */
    public void cancelReservation() {
        if (CALLBACKS.getOpaque(this) != null && state() == RESERVED) {
            runCallbacks();
        } else {
            long reserved = (long) WORD.getOpaque(this);
            if ((reserved & STATE_MASK) == RESERVED) {
                WORD.compareAndSet(this, reserved, reserved - RESERVED + FREE);
            }
        }
    }

    /** Whether a thread holds the lock; the answer may be stale. */
    public boolean isHeld() {
        return state() == HELD;
    }

    /** Whether the lock is neither held nor reserved; the answer may be stale. */
    public boolean isFree() {
        return state() == FREE;
    }

    private long state() {
        return (long) WORD.getOpaque(this) & STATE_MASK;
    }

    /**
     * The number of acquisitions so far, for a reader without the lock; {@link #NO_VERSION} while a thread holds it.
     * The caller sees what the last holder wrote.
     */
    public long version() {
        // ORDER: volatile, so that a thread's read of one shard does not come before its write to another one.
        long read = (long) WORD.getVolatile(this);
        return (read & STATE_MASK) == HELD ? NO_VERSION : read >>> STATE_BITS;
    }

    /**
     * Whether no thread has taken the lock since {@link #version} returned this. The reads in between are then valid.
     */
    public boolean isUnchanged(long version) {
        VarHandle.acquireFence();
        return (long) WORD.getOpaque(this) >>> STATE_BITS == version;
    }

    /**
     * Takes the lock if it is free and nobody has held it since {@link #version} returned this: what the caller has
     * read without the lock is then still true under it.
     */
    public boolean tryLockUnchanged(long version) {
        return tryLock(version << STATE_BITS, FREE);
    }

    /** Takes the lock if it is free; false if any thread holds it, even the caller. */
    public boolean tryLock() {
        return tryLock(FREE);
    }

    private boolean tryReserved() {
        return tryLock(RESERVED);
    }

    private boolean tryLock(long expected) {
        long read = (long) WORD.getOpaque(this);
        return (read & STATE_MASK) == expected && tryLock(read, expected);
    }

    private boolean tryLock(long read, long expected) {
        if (!WORD.compareAndSet(this, read, read - expected + ONE_ACQUISITION + HELD)) {
            return false;
        }
        // ORDER: readers without the lock see the new version before any write under it.
        VarHandle.storeStoreFence();
        owner = Thread.currentThread().threadId();
        return true;
    }

    @SuppressWarnings("ThreadPriorityCheck") // on one core the holder cannot run while this spins
    private boolean lockLater(int naps, boolean called) {
        if (isHeldByMe()) {
            nestedHolds++;
            return true;
        }
        boolean interrupted = false;
        boolean locked = false;
        long maxTries = naps < 0 ? 0 : (long) SPINS + YIELDS + naps;
        for (long tries = 0; !locked && tries < maxTries; tries++) {
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else if (tries < SPINS + YIELDS) {
                Thread.yield();
            } else {
                // While the thread's interrupt flag is set, parking returns at once.
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(this, SLEEP_NANOS);
            }
            locked = tryLock()
                    || (called || tries >= SPINS + YIELDS + RESPECTED_NAPS - 1) && tryReserved();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return locked;
    }

    /** Unlocks one hold. */
    public void unlock() {
        assert isHeldByMe() : "not locked by this thread";
        if (nestedHolds > 0) {
            nestedHolds--;
            return;
        }
        owner = NO_THREAD;
        long free = word - HELD + FREE;
        if (renewed) {
            renewed = false;
            WORD.setRelease(this, free + RESERVED);
        } else if (CALLBACKS.getOpaque(this) != null) {
            WORD.setRelease(this, free + RESERVED);
            runCallbacks();
        } else {
            WORD.setRelease(this, free);
        }
    }

    private void runCallbacks() {
        UnlockCallback current = (UnlockCallback) CALLBACKS.getAndSet(this, null);
        while (current != null) {
            current.action.run();
            current = current.next;
        }
    }

    /** Numbers a change of the shard's keys. The caller holds the lock. */
    public long nextChange() {
        return ++changes;
    }

    public boolean isHeldByMe() {
        return owner == Thread.currentThread().threadId();
    }
}
