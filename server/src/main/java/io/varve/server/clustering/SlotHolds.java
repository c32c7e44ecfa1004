package io.varve.server.clustering;

import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.varve.cluster.map.HashSlot;
import org.jspecify.annotations.Nullable;

/**
 * The slots whose commands wait, because their last changes are being sent to another member. Guarded by its own
 * monitor; any thread reads the volatile field.
 */
public final class SlotHolds {
    /** {@link #whenReleased}: all slots. */
    public static final int ALL = -1;

    /** Null if there are none. Nobody changes the set. */
    private volatile @Nullable BitSet held;
    /** How many hold each slot: a migration and a handover of the role may overlap. */
    private final byte[] counts = new byte[HashSlot.COUNT];
    private final Set<Runnable> waiting = new LinkedHashSet<>();

    /** Whether any slot is held. */
    public boolean isAny() {
        return held != null;
    }

    public boolean isHeld(int slot) {
        BitSet now = held;
        return now != null && now.get(slot);
    }

    /**
     * Holds further slots. A command that was not held before may still run: see
     * {@link ClusterState#awaitOlderCommands}.
     */
    public synchronized void hold(BitSet slots) {
        BitSet now = held;
        BitSet next = now == null ? new BitSet() : (BitSet) now.clone();
        next.or(slots);
        slots.stream().forEach(slot -> counts[slot]++);
        held = next;
    }

    /**
     * Ends one call of {@link #hold} with the same slots. All actions run; those whose slot is still held wait anew.
     */
    public void release(BitSet slots) {
        synchronized (this) {
            BitSet now = held;
            if (now == null) {
                return;
            }
            BitSet next = (BitSet) now.clone();
            slots.stream().filter(slot -> counts[slot] > 0 && --counts[slot] == 0).forEach(next::clear);
            held = next.isEmpty() ? null : next;
        }
        wakeAll();
    }

    /** Runs all actions, although their slots are held: their commands may be refused now. */
    public void wakeAll() {
        List<Runnable> woken;
        synchronized (this) {
            woken = List.copyOf(waiting);
            waiting.clear();
        }
        woken.forEach(Runnable::run);
    }

    /**
     * Runs an action once the slot may be released, perhaps at once, on any thread.
     *
     * @param slot {@link #ALL}: once no slot is held
     */
    public void whenReleased(int slot, Runnable action) {
        synchronized (this) {
            if (slot == ALL ? isAny() : isHeld(slot)) {
                waiting.add(action);
                return;
            }
        }
        action.run();
    }

    /** Forgets an action: its client is gone. */
    public synchronized void cancel(Runnable action) {
        waiting.remove(action);
    }

    /** The number of actions that wait. */
    public synchronized int waitingCount() {
        return waiting.size();
    }
}
