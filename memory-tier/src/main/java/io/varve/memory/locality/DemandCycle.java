package io.varve.memory.locality;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Watches the demand for one class, and says when its items are to be dumped because a valley has come, and when they are to be loaded because it
 * wakes (pRedis, section 4). Single-writer, many readers: who ends slots is one thread, hits and misses may be told by any.
 *
 * <pre>
 *            a valley has come, and the demand is periodic
 *    AWAKE ------------------------------------------------> DUMPED
 *      ^                                                        |
 *      +--------------------------------------------------------+
 *            so many misses one after the other; or a peak has come
 * </pre>
 *
 * <p>What is asked for in a valley is no peak: where that is much, it takes more misses than so many, twice as many as the busiest slot of the valley had reads, and
 * with each slot as many are taken off again. The paper's valleys are silent.
 *
 * <p>The demand is periodic if all three conditions of the paper hold. <i>Peaks and valleys exist</i>: the highest and the lowest rate are apart by half of the
 * average. <i>They last</i>: the highest rate is one that was kept up for so many slots, the lowest one that was not exceeded for as many; a
 * single slot is neither. <i>Reuse is as long as the peaks are apart</i>: most keys that are asked for after a valley were asked for before it, and were idle
 * for a time between a quarter of the interval and four times the interval. The interval is known when a second valley comes, so the first one is let pass.
 *
 * <p>A valley has come when every slot of so many was close to the lowest rate. The paper looks at one slot; a minute in which a network was down
 * is none.
 */
public final class DemandCycle {
    /** What is to be done. */
    public enum Advice {
        NOTHING, DUMP, LOAD
    }

    /** Whether the class's items are where they are asked for. */
    public enum State {
        AWAKE, DUMPED
    }

    private enum Phase {
        UNKNOWN, PEAK, VALLEY
    }

    /** Within this factor, times are of the same magnitude. */
    private static final double MAGNITUDE = 4;
    /** So many times what is read in a valley is no valley's any more. */
    private static final double VALLEYS = 2;
    private static final int NONE = -1;

    private final DemandSettings settings;
    private final RateHistory history;
    private final AtomicBoolean dumped = new AtomicBoolean();
    private final AtomicInteger consecutiveMisses = new AtomicInteger();
    /** Of the slots that were close to the lowest rate since one was not, or since the class was dumped: the most reads. */
    private long quietReads;
    /** Of misses one after the other as many are forgotten with each slot: twice what is read in one of the valley. */
    private volatile int valleyMisses;

    private long slot;
    private Phase phase = Phase.UNKNOWN;
    private long phaseStart;
    private long valleyStart = NONE;
    private long valleySlots = NONE;
    /** From the start of the last valley but one to that of the last. */
    private long interval = NONE;
    private boolean periodic;
    /** The first slot since the class was loaded. */
    private long awakeFrom;
    private boolean wasDumped;
    /** Of this cycle: keys that came back, for how long they had been idle, and keys that are new. */
    private double returned;
    private double idleSlots;
    private double fresh;

    public DemandCycle(DemandSettings settings) {
        this.settings = settings;
        history = new RateHistory(settings.historySlots());
    }

    /**
     * A slot has ended.
     *
     * @param accesses  to the class in it
     * @param reads     among them
     * @param returning what its keys did in it
     * @return what is to be done; it is taken for done
     */
    public Advice endSlot(long accesses, long reads, Returns returning) {
        slot++;
        if (dumped.get()) {
            int forgotten = valleyMisses;
            consecutiveMisses.updateAndGet(misses -> Math.max(0, misses - forgotten));
        }
        if (wasDumped && !dumped.get()) {
            wasDumped = false;
            awakeFrom = slot;
        }
        returned += returning.returned();
        idleSlots += returning.idleSlots();
        fresh += returning.fresh();
        if (history.length() == 0 && accesses == 0) {
            // A class that has not begun yet is in no valley.
            return Advice.NOTHING;
        }
        history.add(accesses);
        int duration = settings.durationSlots();
        if (history.length() < 2 * duration) {
            return Advice.NOTHING;
        }
        double low = history.lowestHeld(duration);
        double swing = history.highestHeld(duration) - low;
        if (swing <= settings.swing() * history.average()) {
            forgetCycle();
            return Advice.NOTHING;
        }
        double closeToLow = low + settings.closeness() * swing;
        noteReads(accesses <= closeToLow, reads);
        int quiet = history.slotsUpTo(closeToLow);
        if (quiet >= duration) {
            return valley(quiet);
        }
        int busy = history.slotsFrom(low + swing / 2);
        return busy >= duration ? peak(busy) : Advice.NOTHING;
    }

    private void noteReads(boolean quiet, long reads) {
        if (quiet) {
            quietReads = Math.max(quietReads, reads);
        } else if (!dumped.get()) {
            quietReads = 0;
        }
        valleyMisses = (int) Math.min(VALLEYS * quietReads, Integer.MAX_VALUE);
    }

    private void forgetCycle() {
        phase = Phase.UNKNOWN;
        phaseStart = 0;
        valleyStart = NONE;
        valleySlots = NONE;
        interval = NONE;
        periodic = false;
    }

    private Advice valley(int quiet) {
        if (phase != Phase.VALLEY) {
            phase = Phase.VALLEY;
            phaseStart = Math.max(slot - quiet, phaseStart);
            interval = valleyStart == NONE ? NONE : phaseStart - valleyStart;
            valleyStart = phaseStart;
            periodic = interval != NONE && reuseIsAsLongAsTheInterval();
            returned = 0;
            idleSlots = 0;
            fresh = 0;
        }
        // One that a miss wakes at this moment is awake from the next slot on.
        if (periodic && !wasDumped && slot - awakeFrom >= settings.durationSlots()) {
            consecutiveMisses.set(0);
            dumped.set(true);
            wasDumped = true;
            return Advice.DUMP;
        }
        return Advice.NOTHING;
    }

    private boolean reuseIsAsLongAsTheInterval() {
        double idle = returned == 0 ? 0 : idleSlots / returned;
        return returned > 0 && returned >= settings.returning() * (returned + fresh) && idle >= interval / MAGNITUDE
                && idle <= interval * MAGNITUDE;
    }

    private Advice peak(int busy) {
        if (phase != Phase.PEAK) {
            phase = Phase.PEAK;
            phaseStart = Math.max(slot - busy, phaseStart);
            valleySlots = valleyStart == NONE ? NONE : phaseStart - valleyStart;
        }
        return dumped.compareAndSet(true, false) ? Advice.LOAD : Advice.NOTHING;
    }

    /**
     * A read of this class has missed.
     *
     * @return whether that wakes the class: it is to be loaded. True for one caller only
     */
    public boolean missed() {
        return dumped.get() && consecutiveMisses.incrementAndGet() >= Math.max(settings.misses(), valleyMisses)
                && dumped.compareAndSet(true, false);
    }

    /** A read of this class has hit. */
    public void hit() {
        if (dumped.get()) {
            consecutiveMisses.set(0);
        }
    }

    /** When the last valley began; -1 until one was seen. What was accessed before it, and is again, returns. */
    public long valleyBeganSlotsAgo() {
        return valleyStart == NONE ? NONE : slot - valleyStart;
    }

    public State state() {
        return dumped.get() ? State.DUMPED : State.AWAKE;
    }

    /** Whether all three conditions held when the last valley came. */
    public boolean periodic() {
        return periodic;
    }

    /** From one valley to the next, slots; -1 until two were seen. */
    public long intervalSlots() {
        return interval;
    }

    /** How long the last valley was, slots; -1 until one has ended. */
    public long valleySlots() {
        return valleySlots;
    }
}
