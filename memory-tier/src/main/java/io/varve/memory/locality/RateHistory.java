package io.varve.memory.locality;

/** How many accesses each of the last slots had. Confined to its owner. */
final class RateHistory {
    private final long[] slots;
    /** For a search, by how long slots are ago. */
    private final int[] rising;
    private int length;
    /** Where the next one goes. */
    private int end;
    private double sum;

    RateHistory(int slots) {
        this.slots = new long[slots];
        rising = new int[slots];
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

    /** The highest rate that was kept up for so many slots; takes time for each slot once. */
    long highestHeld(int duration) {
        return held(duration, 1);
    }

    /** The lowest rate that was not exceeded for so many slots; takes time for each slot once. */
    long lowestHeld(int duration) {
        return -held(duration, -1);
    }

    /** The highest of the least rates, each times the sign, of so many slots one after the other. */
    private long held(int duration, int sign) {
        long highest = -Long.MAX_VALUE;
        // Slots that may be the least of those to come: each has less than the next.
        int first = 0;
        int last = -1;
        for (int ago = 0; ago < length; ago++) {
            long rate = sign * back(ago);
            while (last >= first && sign * back(rising[last]) >= rate) {
                last--;
            }
            last++;
            rising[last] = ago;
            if (rising[first] <= ago - duration) {
                first++;
            }
            if (ago >= duration - 1) {
                highest = Math.max(highest, sign * back(rising[first]));
            }
        }
        return highest;
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
