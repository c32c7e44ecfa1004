package io.varve.memory.locality.demand;

/** The number of accesses in each of the last slots. Confined to its owner. */
final class RateHistory {
    private final long[] slots;
    /** A search's scratch space: ages of slots. */
    private final int[] rising;
    private int length;
    /** The index for the next slot. */
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

    /** The highest rate that was sustained for this many slots; its time is linear in the slots. */
    long highestHeld(int duration) {
        return held(duration, 1);
    }

    /** The lowest rate that was not exceeded for this many slots; its time is linear in the slots. */
    long lowestHeld(int duration) {
        return -held(duration, -1);
    }

    /** The maximum, over all runs of this many consecutive slots, of the minimum of the rates times the sign. */
    private long held(int duration, int sign) {
        long highest = -Long.MAX_VALUE;
        // Candidates for the minimum of later runs: each has less than the next.
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

    /** The number of last consecutive slots with at most this rate. */
    int slotsUpTo(double accesses) {
        int slot = 0;
        while (slot < length && back(slot) <= accesses) {
            slot++;
        }
        return slot;
    }

    /** The number of last consecutive slots with at least this rate. */
    int slotsFrom(double accesses) {
        int slot = 0;
        while (slot < length && back(slot) >= accesses) {
            slot++;
        }
        return slot;
    }
}
