package io.varve.server.blocking;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * Delays commands that read or change keys without naming them until no key is reserved. Guarded by the lock of
 * {@link BlockedKeys}. While such commands wait, the barrier also delays commands that would create further
 * reservations. Without that, some key might always be reserved.
 *
 * <p>Both sides alternate, so neither starves. While commands wait in front, the barrier is closed: it delays every
 * command that names an awaited key. When all commands in front have run, the barrier opens. The delayed commands run
 * before it closes again for the commands that have arrived since.
 *
 * <p>Readers run concurrently as soon as no key is reserved. Writers run one at a time: a writer may wake clients
 * itself (SWAPDB, EXEC), and each woken client re-runs its command before the next writer runs.
 */
final class Barrier {
    /** The commands for which the barrier is closed. */
    private final Set<BarrierWaiter> inFront = new LinkedHashSet<>();
    /** Commands that wait for the next time the barrier closes. */
    private final Set<BarrierWaiter> next = new LinkedHashSet<>();
    private final Set<BarrierWaiter> delayed = new LinkedHashSet<>();
    /**
     * Commands that were delayed and have not run since their release. INVARIANT: if there are any, the barrier is
     * open.
     */
    private final Set<BarrierWaiter> released = new LinkedHashSet<>();
    /** The command in front that is changing keys at this moment. */
    private @Nullable BarrierWaiter changing;

    /** Whether the barrier delays commands that name an awaited key. */
    boolean isClosed() {
        return !inFront.isEmpty();
    }

    /**
     * Whether a command may read or change all keys. If it may not, it waits in front. An admitted writer has to
     * {@link #remove} after its changes; an admitted reader has left already.
     */
    boolean admits(BarrierWaiter barrierWaiter, boolean noneReserved) {
        if (barrierWaiter.kind() == BarrierWaiter.Kind.READ && noneReserved) {
            remove(barrierWaiter, true);
            return true;
        }
        enter(barrierWaiter);
        if (barrierWaiter.kind() == BarrierWaiter.Kind.READ || !noneReserved || !inFront.contains(barrierWaiter)
                || changing != null && !barrierWaiter.equals(changing)) {
            if (barrierWaiter.equals(changing)) {
                // It was admitted earlier and has changed nothing: it waits again.
                changing = null;
            }
            return false;
        }
        changing = barrierWaiter;
        return true;
    }

    private void enter(BarrierWaiter barrierWaiter) {
        if (inFront.contains(barrierWaiter) || next.contains(barrierWaiter)) {
            return;
        }
        // A reader creates no reservation, so it does not prolong the wait of the commands in front.
        boolean mayJoin = inFront.isEmpty() ? released.isEmpty() : barrierWaiter.kind() == BarrierWaiter.Kind.READ;
        (mayJoin ? inFront : next).add(barrierWaiter);
    }

    /** Delays a command that would wake a blocked client until the barrier is open. */
    void delay(BarrierWaiter barrierWaiter) {
        released.remove(barrierWaiter);
        delayed.add(barrierWaiter);
    }

    /** Removes a command that has run or will not run. Without effect for a command that has no place. */
    void remove(BarrierWaiter barrierWaiter, boolean noneReserved) {
        if (barrierWaiter.equals(changing)) {
            changing = null;
        }
        // The command is in at most one of these sets.
        boolean left = inFront.remove(barrierWaiter) || next.remove(barrierWaiter) || delayed.remove(barrierWaiter)
                || released.remove(barrierWaiter);
        if (!left) {
            return;
        }
        if (inFront.isEmpty()) {
            List<BarrierWaiter> first = List.copyOf(delayed);
            delayed.clear();
            released.addAll(first);
            if (released.isEmpty()) {
                inFront.addAll(next);
                next.clear();
            }
            first.forEach(BarrierWaiter::wake);
        }
        if (noneReserved) {
            wakeAdmissible();
        }
    }

    /** Called when no key is reserved: wakes the commands in front that may run. */
    void wakeAdmissible() {
        boolean mayChange = changing == null;
        for (BarrierWaiter barrierWaiter : List.copyOf(inFront)) {
            boolean reads = barrierWaiter.kind() == BarrierWaiter.Kind.READ;
            if (reads || mayChange) {
                barrierWaiter.wake();
            }
            mayChange &= reads;
        }
    }
}
