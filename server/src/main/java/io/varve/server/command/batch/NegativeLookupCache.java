package io.varve.server.command.batch;

/**
 * A hash set of keys that are known not to be on flash, in an epoch and at a demotion count. Confined to its event
 * loop. It holds only keys that a command does not name.
 */
public final class NegativeLookupCache {
    private static final int INITIAL = 64;
    private static final long[] NONE = {};
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    /** Open-addressed hashes; 0 marks an empty slot. */
    private long[] prints = NONE;
    private int count;

    private static long print(long hash, long epoch, int demotions) {
        long print = (hash ^ epoch * SPREAD) * SPREAD + demotions;
        print = (print ^ print >>> 32) * SPREAD;
        return print == 0 ? 1 : print;
    }

    void add(long hash, long epoch, int demotions) {
        if (2 * (count + 1) > prints.length) {
            long[] old = prints;
            prints = new long[Math.max(INITIAL, 2 * old.length)];
            count = 0;
            for (long print : old) {
                if (print != 0) {
                    put(print);
                }
            }
        }
        put(print(hash, epoch, demotions));
    }

    private void put(long print) {
        int at = placeOf(print);
        count += prints[at] == 0 ? 1 : 0;
        prints[at] = print;
    }

    /** The slot of a hash, or the empty slot for it. */
    private int placeOf(long print) {
        int mask = prints.length - 1;
        int at = (int) (print >>> 40) & mask;
        while (prints[at] != 0 && prints[at] != print) {
            at = at + 1 & mask;
        }
        return at;
    }

    public boolean has(long hash, long epoch, int demotions) {
        return count > 0 && prints[placeOf(print(hash, epoch, demotions))] != 0;
    }

    void clear() {
        if (count > 0) {
            prints = NONE;
            count = 0;
        }
    }

    long heapBytes() {
        return (long) Long.BYTES * prints.length;
    }
}
