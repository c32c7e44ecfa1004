package io.varve.memory.locality.demand;

import java.util.concurrent.atomic.AtomicInteger;

import io.varve.memory.locality.demand.PeriodicDemandDetector.Advice;
import io.varve.memory.locality.partition.PenaltyRanges;

/**
 * The demand state of all classes: which are dumped, and which of those wake (pRedis, section 4). Single-writer, many
 * readers: one thread ends slots, and any thread may report reads.
 *
 * <p>A dumped class wakes after a number of consecutive misses. A miss is a read that finds no item in memory, whether
 * the item is in the secondary tier or nowhere. Fetching the item for that read does not make it a hit. Reads of items
 * that arrived after the class was dumped are no hits either, however often they occur.
 */
public final class DemandCycles {
    private final PeriodicDemandDetector[] cycles;
    private final DemandSettings settings;
    /** A bit for each dumped class; and one for each that misses have woken since the last {@link #takeWoken}. */
    private final AtomicInteger dumped = new AtomicInteger();
    private final AtomicInteger woken = new AtomicInteger();

    /** @param classes 1 to {@link PenaltyRanges#MAX_CLASSES} */
    public DemandCycles(int classes, DemandSettings settings) {
        this.settings = settings;
        cycles = new PeriodicDemandDetector[new PenaltyRanges(classes).classes()];
        for (int i = 0; i < classes; i++) {
            cycles[i] = new PeriodicDemandDetector(settings);
        }
    }

    public int classes() {
        return cycles.length;
    }

    public DemandSettings settings() {
        return settings;
    }

    /** Ends a slot for a class: {@link PeriodicDemandDetector#endSlot}. */
    public Advice endSlot(int penaltyClass, long accesses, long reads, ReuseSample sample) {
        Advice advice = cycles[penaltyClass].endSlot(accesses, reads, sample);
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

    /** Records a read of an item that was in memory before the class was dumped. */
    public void hit(int penaltyClass) {
        if (isDumped(penaltyClass)) {
            cycles[penaltyClass].hit();
        }
    }

    /** Records a read that found nothing, or an item that was fetched for it. */
    public void missed(int penaltyClass) {
        if (isDumped(penaltyClass) && cycles[penaltyClass].missed()) {
            // ORDER: the reader of the woken bit loads the class, and nothing is loaded for a class whose dumped bit is
            // set.
            dumped.getAndUpdate(bits -> bits & ~(1 << penaltyClass));
            woken.getAndUpdate(bits -> bits | 1 << penaltyClass);
        }
    }

    /** The classes that misses have woken since the last call: a bit for each. */
    public int takeWoken() {
        return woken.get() == 0 ? 0 : woken.getAndSet(0);
    }

    /** The detector of a class; only for the thread that ends slots. */
    public PeriodicDemandDetector of(int penaltyClass) {
        return cycles[penaltyClass];
    }

    /** The memory of the histories in bytes. */
    public long bytes() {
        return (long) (Long.BYTES + Integer.BYTES) * settings.historySlots() * cycles.length;
    }
}
