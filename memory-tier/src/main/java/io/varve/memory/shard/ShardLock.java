package io.varve.memory.shard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * The lock of a shard: reentrant, not fair. Many threads.
 *
 * <p>It is held for well under a microsecond by most commands and for 200 microseconds at most by maintenance, and mostly
 * nobody waits; a command that goes over a large collection, or copies one, holds it for all that time, and who cannot wait as
 * long says so ({@link #lockWithin}). So letting go is a plain store with release semantics: a core need not drain its writes to the item for it,
 * as it would for an exchange that tells whether somebody waits. The price is paid by who waits: it looks again and again,
 * first at once, then after others had the core, then after short sleeps.
 *
 * <p>A transaction holds the locks of all its commands while each of them takes its own again, and gives them back.
 */
final class ShardLock {
    private static final int FREE = 0;
    private static final int HELD = 1;
    /** No thread has this number. */
    private static final long NOBODY = 0;
    /** Some microseconds: longer than a command, shorter than a slice of maintenance. */
    private static final int SPINS = 64;
    private static final int YIELDS = 16;
    private static final long SLEEP_NANOS = 20_000;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(ShardLock.class, "state", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    @SuppressWarnings("unused") // written and read through STATE
    private int state = FREE;
    /** The thread that has it; meaningful to that thread, to others it may be stale. */
    private long owner = NOBODY;
    /** How often the thread that has it has taken it again. */
    private int taken;

    /** Waits until it is free or the caller's own, and takes it. */
    void lock() {
        if (!tryLock()) {
            lockLater(Integer.MAX_VALUE);
        }
    }

    /**
     * Takes it, if it is free or the caller's own before the caller has slept so often; without sleeping it looks for some microseconds.
     *
     * @return false if another thread has it still
     */
    boolean lockWithin(int naps) {
        return tryLock() || lockLater(naps);
    }

    /** Takes it if it is free; false if a thread has it, be it the caller. */
    boolean tryLock() {
        if ((int) STATE.getOpaque(this) != FREE || !STATE.compareAndSet(this, FREE, HELD)) {
            return false;
        }
        owner = Thread.currentThread().threadId();
        return true;
    }

    @SuppressWarnings("ThreadPriorityCheck") // on a machine of one core the holder cannot go on while this thread spins
    private boolean lockLater(int naps) {
        if (isHeldByMe()) {
            taken++;
            return true;
        }
        boolean interrupted = false;
        boolean locked = false;
        for (int tries = 0; !locked && tries - SPINS - YIELDS < naps; tries++) {
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else if (tries < SPINS + YIELDS) {
                Thread.yield();
            } else {
                // While the thread is marked as interrupted, parking returns at once.
                interrupted |= Thread.interrupted();
                LockSupport.parkNanos(this, SLEEP_NANOS);
            }
            locked = tryLock();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return locked;
    }

    /** Gives it back once. */
    void unlock() {
        assert isHeldByMe() : "not locked by this thread";
        if (taken > 0) {
            taken--;
            return;
        }
        owner = NOBODY;
        STATE.setRelease(this, FREE);
    }

    boolean isHeldByMe() {
        return owner == Thread.currentThread().threadId();
    }
}
