package io.varve.memory.shard;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * The lock of a shard: reentrant, not fair. Many threads.
 *
 * <p>It is held for well under a microsecond by most commands and for 200 microseconds at most by maintenance, and mostly
 * nobody waits; a command that goes over a large collection, or copies one, holds it for all that time, and who cannot wait as
 * long says so ({@link #lockWithin}). So letting go is a plain store with release semantics: a core need not drain its writes to the item for it,
 * as it would for an exchange that tells whether somebody waits. The price is paid by who waits: it looks again and again,
 * first at once, then after others had the core, then after short sleeps.
 *
 * <p>Who cannot wait says that it wants the lock ({@link #want}) and is called when it is let go of. It is reserved then, for a few
 * milliseconds, for those who were called: else one who takes it again and again, for long each time, would keep all others from it.
 *
 * <p>A transaction holds the locks of all its commands while each of them takes its own again, and gives them back.
 */
final class ShardLock {
    private static final int FREE = 0;
    private static final int HELD = 1;
    /** For those who were called, and for who has waited for a while: nobody need come. */
    private static final int RESERVED = 2;
    /** No thread has this number. */
    private static final long NOBODY = 0;
    /** Some microseconds: longer than a command, shorter than a slice of maintenance. */
    private static final int SPINS = 64;
    private static final int YIELDS = 16;
    private static final long SLEEP_NANOS = 20_000;
    /** Who has slept so often, for some milliseconds, takes what is reserved for others. */
    private static final int RESPECTED_NAPS = 30;

    private static final VarHandle STATE;
    private static final VarHandle WANTED;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(ShardLock.class, "state", int.class);
            WANTED = MethodHandles.lookup().findVarHandle(ShardLock.class, "wanted", Wanted.class);
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
    /** Whether it is to be reserved once more for those for whom it was. Guarded by this lock. */
    private boolean kept;
    /** Who is to be called, the last first; null: nobody. Added to by any thread, taken by the one that has the lock. */
    @SuppressWarnings("unused") // written through WANTED
    private @Nullable Wanted wanted;

    /** One who is to be called, and the one before. Immutable. */
    private record Wanted(Runnable call, @Nullable Wanted before) {}

    /** Waits until it is free or the caller's own, and takes it. */
    void lock() {
        boolean locked = tryLock();
        while (!locked) {
            locked = lockLater(Integer.MAX_VALUE, false);
        }
    }

    /**
     * Takes it, if it is free or the caller's own before the caller has slept so often.
     *
     * @param naps   0: it looks for some microseconds and does not sleep; -1: it looks once
     * @param called whether the caller was called as one who wanted it
     * @return false if another thread has it still
     */
    boolean lockWithin(int naps, boolean called) {
        return tryLock() || called && tryReserved() || lockLater(naps, called);
    }

    /**
     * Has something run by a thread that lets go of the lock, once, while it may hold others: at the next time, or, if that is just now, at one
     * after it.
     */
    void want(Runnable call) {
        Wanted before;
        do {
            before = (Wanted) WANTED.getOpaque(this);
        } while (!WANTED.compareAndSet(this, before, new Wanted(call, before)));
    }

    /** By who has it: it is reserved again for those who were called last, and others who want it are not called yet. */
    void keepReserved() {
        assert isHeldByMe() : "not locked by this thread";
        kept = true;
    }

    /** Who was called does not want it any more: it is reserved for those who are called now, or for nobody. */
    void forgo() {
        if (WANTED.getOpaque(this) != null && (int) STATE.getOpaque(this) == RESERVED) {
            callWanting();
        } else {
            STATE.compareAndSet(this, RESERVED, FREE);
        }
    }

    /** Whether a thread has it: the answer may be late. */
    boolean isHeld() {
        return (int) STATE.getOpaque(this) == HELD;
    }

    /** Whether anybody could take it: the answer may be late. */
    boolean isFree() {
        return (int) STATE.getOpaque(this) == FREE;
    }

    /** Takes it if it is free; false if a thread has it, be it the caller. */
    boolean tryLock() {
        if ((int) STATE.getOpaque(this) != FREE || !STATE.compareAndSet(this, FREE, HELD)) {
            return false;
        }
        owner = Thread.currentThread().threadId();
        return true;
    }

    private boolean tryReserved() {
        if ((int) STATE.getOpaque(this) != RESERVED || !STATE.compareAndSet(this, RESERVED, HELD)) {
            return false;
        }
        owner = Thread.currentThread().threadId();
        return true;
    }

    @SuppressWarnings("ThreadPriorityCheck") // on a machine of one core the holder cannot go on while this thread spins
    private boolean lockLater(int naps, boolean called) {
        if (isHeldByMe()) {
            taken++;
            return true;
        }
        boolean interrupted = false;
        boolean locked = false;
        long most = naps < 0 ? 0 : (long) SPINS + YIELDS + naps;
        for (long tries = 0; !locked && tries < most; tries++) {
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else if (tries < SPINS + YIELDS) {
                Thread.yield();
            } else {
                // While the thread is marked as interrupted, parking returns at once.
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

    /** Gives it back once. */
    void unlock() {
        assert isHeldByMe() : "not locked by this thread";
        if (taken > 0) {
            taken--;
            return;
        }
        owner = NOBODY;
        if (kept) {
            kept = false;
            STATE.setRelease(this, RESERVED);
        } else if (WANTED.getOpaque(this) != null) {
            STATE.setRelease(this, RESERVED);
            callWanting();
        } else {
            STATE.setRelease(this, FREE);
        }
    }

    private void callWanting() {
        Wanted next = (Wanted) WANTED.getAndSet(this, null);
        while (next != null) {
            next.call.run();
            next = next.before;
        }
    }

    boolean isHeldByMe() {
        return owner == Thread.currentThread().threadId();
    }
}
