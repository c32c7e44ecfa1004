package io.varve.memory.locality;

import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.locality.DemandCycle.Advice;

/**
 * The demand for all classes: which are dumped, and which of them wake (pRedis, section 4). Single-writer, many readers: who ends slots is one thread, what reads
 * find may be told by any.
 *
 * <p>A dumped class wakes with so many misses one after the other. A miss is a read that finds nothing in memory, be its item below or nowhere: that an item came back from
 * there for it, and is found then, makes it no hit. What came since the class was dumped is no hit either, however often it is read.
 */
public final class DemandCycles {
    private final DemandCycle[] cycles;
    private final DemandSettings settings;
    /** A bit for each class that is dumped, and for each that was woken by misses since somebody asked. */
    private final AtomicInteger dumped = new AtomicInteger();
    private final AtomicInteger woken = new AtomicInteger();

    /** @param classes 1 to {@link PenaltyRanges#MOST} */
    public DemandCycles(int classes, DemandSettings settings) {
        this.settings = settings;
        cycles = new DemandCycle[new PenaltyRanges(classes).classes()];
        for (int i = 0; i < classes; i++) {
            cycles[i] = new DemandCycle(settings);
        }
    }

    public int classes() {
        return cycles.length;
    }

    public DemandSettings settings() {
        return settings;
    }

    /** A slot has ended for a class: {@link DemandCycle#endSlot}. */
    public Advice endSlot(int penaltyClass, long accesses, long reads, Returns returning) {
        Advice advice = cycles[penaltyClass].endSlot(accesses, reads, returning);
        switch (advice) {
            case DUMP -> dumped.getAndUpdate(bits -> bits | 1 << penaltyClass);
            case LOAD -> dumped.getAndUpdate(bits -> bits & ~(1 << penaltyClass));
            case NOTHING -> {
            }
        }
        return advice;
    }

    public boolean isDumped(int penaltyClass) {
        return (dumped.get() >>> penaltyClass & 1) != 0;
    }

    public boolean isAnyDumped() {
        return dumped.get() != 0;
    }

    /** A read has found an item in memory that was there before the class was dumped. */
    public void hit(int penaltyClass) {
        if (isDumped(penaltyClass)) {
            cycles[penaltyClass].hit();
        }
    }

    /** A read has found nothing, or what came back for it. */
    public void missed(int penaltyClass) {
        if (isDumped(penaltyClass) && cycles[penaltyClass].missed()) {
            // In this order: who is told that it was woken loads it, and nothing is loaded of a class that is dumped.
            dumped.getAndUpdate(bits -> bits & ~(1 << penaltyClass));
            woken.getAndUpdate(bits -> bits | 1 << penaltyClass);
        }
    }

    /** The classes that misses have woken since this was last asked: a bit for each. */
    public int takeWoken() {
        return woken.get() == 0 ? 0 : woken.getAndSet(0);
    }

    /** What is known of a class; for who ends slots. */
    public DemandCycle of(int penaltyClass) {
        return cycles[penaltyClass];
    }

    /** What the histories take. */
    public long bytes() {
        return (long) (Long.BYTES + Integer.BYTES) * settings.historySlots() * cycles.length;
    }
}
