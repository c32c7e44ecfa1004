package io.varve.memory.report;

import java.util.List;

/**
 * Statistics of the demand for each penalty class ({@link io.varve.memory.Cache#demand}). Immutable.
 *
 * @param slots demand slots that have ended since the controller became active
 * @param classes one entry for each class, in the order of their numbers
 * @param dumping whether the items of a class are being demoted
 */
public record DemandReport(long slots, List<OfClass> classes, boolean dumping) {
    /**
     * The demand for one class. Immutable.
     *
     * @param dumped whether a valley has come and the class was not woken since
     * @param periodic whether the demand was periodic at the last valley
     * @param intervalSlots the slots from one valley to the next; -1 until two were seen
     * @param dumps how often its items were dumped
     * @param abandoned how often some of them stayed in memory, because the secondary tier had no space
     * @param wakes how often it was woken after that
     * @param dumpedItems the items that were demoted for its valleys
     */
    public record OfClass(boolean dumped, boolean periodic, long intervalSlots, long dumps, long abandoned, long wakes,
            long dumpedItems) {}

    public DemandReport {
        classes = List.copyOf(classes);
    }

    public long dumps() {
        return classes.stream().mapToLong(OfClass::dumps).sum();
    }

    public long abandoned() {
        return classes.stream().mapToLong(OfClass::abandoned).sum();
    }

    public long wakes() {
        return classes.stream().mapToLong(OfClass::wakes).sum();
    }

    public long dumpedItems() {
        return classes.stream().mapToLong(OfClass::dumpedItems).sum();
    }
}
