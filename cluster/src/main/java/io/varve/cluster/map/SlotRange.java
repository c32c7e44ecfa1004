package io.varve.cluster.map;

/**
 * Slots that follow each other. Immutable.
 *
 * @param first from 0
 * @param last from {@code first} to {@link HashSlot#COUNT} - 1
 */
public record SlotRange(int first, int last) {
    public SlotRange {
        if (first < 0 || last < first || last >= HashSlot.COUNT) {
            throw new IllegalArgumentException("slots " + first + " to " + last + ": expected 0 to "
                    + (HashSlot.COUNT - 1) + " in ascending order");
        }
    }

    public int size() {
        return last - first + 1;
    }
}
