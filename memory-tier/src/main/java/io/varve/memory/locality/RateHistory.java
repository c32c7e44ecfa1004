package io.varve.memory.locality;

/** How many accesses each of the last slots had. Confined to its owner. */
final class RateHistory {
    private final long[] slots;
    private int length;
    /** Where the next one goes. */
    private int end;
    private double sum;

    RateHistory(int slots) {
        this.slots = new long[slots];
    }

    void add(long accesses) {
        sum += accesses - (length == slots.length ? slots[end] : 0);
        slots[end] = accesses;
        end = (end + 1) % slots.length;
        length = Math.min(length + 1, slots.length);
    }

    int length() {
        return length;
    }

    double average() {
        return length == 0 ? 0 : sum / length;
    }

    /** @param ago 0 for the last slot */
    private long back(int ago) {
        int at = end - 1 - ago;
        return slots[at < 0 ? at + slots.length : at];
    }

    /** The highest rate that was kept up for so many slots. */
    long highestHeld(int duration) {
        long highest = Long.MIN_VALUE;
        for (int from = 0; from + duration <= length; from++) {
            long least = Long.MAX_VALUE;
            for (int i = from; i < from + duration; i++) {
                least = Math.min(least, back(i));
            }
            highest = Math.max(highest, least);
        }
        return highest;
    }

    /** The lowest rate that was not exceeded for so many slots. */
    long lowestHeld(int duration) {
        long lowest = Long.MAX_VALUE;
        for (int from = 0; from + duration <= length; from++) {
            long most = Long.MIN_VALUE;
            for (int i = from; i < from + duration; i++) {
                most = Math.max(most, back(i));
            }
            lowest = Math.min(lowest, most);
        }
        return lowest;
    }

    /** How many of the last slots, without a gap, had no more than this. */
    int slotsUpTo(double accesses) {
        int slot = 0;
        while (slot < length && back(slot) <= accesses) {
            slot++;
        }
        return slot;
    }

    /** How many of the last slots, without a gap, had this or more. */
    int slotsFrom(double accesses) {
        int slot = 0;
        while (slot < length && back(slot) >= accesses) {
            slot++;
        }
        return slot;
    }
}
