package io.varve.memory;

import java.util.List;

/**
 * What is known of the demand for each class of penalty ({@link Cache#demand}). Immutable.
 *
 * @param slots   that have ended since it is watched
 * @param classes in the order of their numbers
 * @param dumping whether the items of a class are falling
 */
public record DemandReport(long slots, List<OfClass> classes, boolean dumping) {
    /**
     * A class. Immutable.
     *
     * @param dumped        whether a valley has come and it has not been woken since
     * @param periodic      whether the last valley was one of a periodic demand
     * @param intervalSlots from one valley to the next; -1 until two were seen
     * @param dumps         how often its items were dumped
     * @param givenUp       how often some of them stayed, because the tier below had no room
     * @param wakes         how often it was woken after that
     * @param dumpedItems   that have fallen because of its valleys
     */
    public record OfClass(boolean dumped, boolean periodic, long intervalSlots, long dumps, long givenUp, long wakes,
            long dumpedItems) {}

    public DemandReport {
        classes = List.copyOf(classes);
    }

    public long dumps() {
        return classes.stream().mapToLong(OfClass::dumps).sum();
    }

    public long givenUp() {
        return classes.stream().mapToLong(OfClass::givenUp).sum();
    }

    public long wakes() {
        return classes.stream().mapToLong(OfClass::wakes).sum();
    }

    public long dumpedItems() {
        return classes.stream().mapToLong(OfClass::dumpedItems).sum();
    }
}
