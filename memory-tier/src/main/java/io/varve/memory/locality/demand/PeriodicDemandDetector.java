package io.varve.memory.locality.demand;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Watches the demand for one class and advises when to dump its items for a valley and when to load them again (pRedis,
 * section 4). Single-writer, many readers: one thread ends slots, and any thread may report hits and misses.
 *
 * <pre>
 *            a valley has come, and the demand is periodic
 *    AWAKE ------------------------------------------------> DUMPED
 *      ^                                                        |
 *      +--------------------------------------------------------+
 *              enough consecutive misses; or a peak has come
 * </pre>
 *
 * <p>The normal reads of a valley are no peak. If there are many, the class wakes only after twice as many misses as
 * the busiest slot of the valley had reads, and each slot takes that many off again. The paper's valleys are silent.
 *
 * <p>Demand is periodic if all three conditions of the paper hold. <i>Peaks and valleys exist</i>: the highest and the
 * lowest rate differ by half of the average. <i>They last</i>: the highest rate is one that was sustained for the
 * required number of slots, and the lowest one that was not exceeded for as many; a single slot is neither. <i>Reuse
 * times match the interval</i>: most keys accessed after a valley were also accessed before it, and were idle for
 * between a quarter of the interval and four times the interval. The interval is known only when a second valley comes,
 * so the first one is ignored.
 *
 * <p>A valley has come when every slot of the required number was close to the lowest rate. The paper checks one slot,
 * but a minute without network is no valley.
 */
public final class PeriodicDemandDetector {
    /** The advice at the end of a slot. */
    public enum Advice {
        NOTHING, DUMP, LOAD
    }

    /** Whether the class's items are in memory or dumped. */
    public enum State {
        AWAKE, DUMPED
    }

    private enum Phase {
        UNKNOWN, PEAK, VALLEY
    }

    /** Within this factor, times are of the same magnitude. */
    private static final double MAGNITUDE = 4;
    /** More reads than this multiple of a valley's normal ones are no part of the valley. */
    private static final double VALLEYS = 2;
    private static final int NONE = -1;

    private final DemandSettings settings;
    private final RateHistory history;
    private final AtomicBoolean dumped = new AtomicBoolean();
    private final AtomicInteger consecutiveMisses = new AtomicInteger();
    /** The most reads in a slot close to the lowest rate, since the last other slot, or since the class was dumped. */
    private long quietReads;
    /** The consecutive misses that are forgotten with each slot: twice the reads in a slot of the valley. */
    private volatile int valleyMisses;

    private long slot;
    private Phase phase = Phase.UNKNOWN;
    private long phaseStart;
    private long valleyStart = NONE;
    private long valleySlots = NONE;
    /** The slots between the starts of the last two valleys. */
    private long interval = NONE;
    private boolean periodic;
    /** The first slot since the class was loaded. */
    private long awakeFrom;
    private boolean wasDumped;
    /** In this cycle: keys that came back, the sum of their idle times, and new keys. */
    private double returned;
    private double idleSlots;
    private double fresh;

    public PeriodicDemandDetector(DemandSettings settings) {
        this.settings = settings;
        history = new RateHistory(settings.historySlots());
    }

    /**
     * Ends a slot.
     *
     * @param accesses accesses to the class in it
     * @param reads the reads among them
     * @param sample the behaviour of its keys in it
     * @return the advice, which the caller must follow
     */
    public Advice endSlot(long accesses, long reads, ReuseSample sample) {
        slot++;
        if (dumped.get()) {
            int forgotten = valleyMisses;
            consecutiveMisses.updateAndGet(misses -> Math.max(0, misses - forgotten));
        }
        if (wasDumped && !dumped.get()) {
            wasDumped = false;
            awakeFrom = slot;
        }
        returned += sample.returned();
        idleSlots += sample.idleSlots();
        fresh += sample.fresh();
        if (history.length() == 0 && accesses == 0) {
            // A class without any accesses so far is in no valley.
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
        // A class that a miss wakes at this moment is awake from the next slot on.
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
     * Records a read of this class that has missed.
     *
     * @return whether that wakes the class, so that it must be loaded. True for one caller only
     */
    public boolean missed() {
        return dumped.get() && consecutiveMisses.incrementAndGet() >= Math.max(settings.misses(), valleyMisses)
                && dumped.compareAndSet(true, false);
    }

    /** Records a read of this class that has hit. */
    public void hit() {
        if (dumped.get()) {
            consecutiveMisses.set(0);
        }
    }

    /**
     * The age of the last valley's beginning; -1 before the first. A key returns if it was accessed before then and
     * again after.
     */
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

    /** The slots from one valley to the next; -1 until two were seen. */
    public long intervalSlots() {
        return interval;
    }

    /** The length of the last valley in slots; -1 until one has ended. */
    public long valleySlots() {
        return valleySlots;
    }
}
