package io.varve.server.command;

/**
 * Keys that a command does not name, and of which it is known that they are not on flash, in an epoch and after so many falls: by a hash of all
 * that. Confined to its event loop.
 */
final class AbsentKeys {
    private static final int INITIAL = 64;
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    /** Hashes, each where it belongs or behind; 0 where there is none. */
    private long[] prints = new long[0];
    private int count;

    private static long print(long hash, long epoch, int falls) {
        long print = (hash ^ epoch * SPREAD) * SPREAD + falls;
        print = (print ^ print >>> 32) * SPREAD;
        return print == 0 ? 1 : print;
    }

    void add(long hash, long epoch, int falls) {
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
        put(print(hash, epoch, falls));
    }

    private void put(long print) {
        int at = placeOf(print);
        count += prints[at] == 0 ? 1 : 0;
        prints[at] = print;
    }

    /** Where it is, or would be. */
    private int placeOf(long print) {
        int mask = prints.length - 1;
        int at = (int) (print >>> 40) & mask;
        while (prints[at] != 0 && prints[at] != print) {
            at = at + 1 & mask;
        }
        return at;
    }

    boolean has(long hash, long epoch, int falls) {
        return count > 0 && prints[placeOf(print(hash, epoch, falls))] != 0;
    }

    void clear() {
        if (count > 0) {
            prints = new long[0];
            count = 0;
        }
    }

    long heapBytes() {
        return (long) Long.BYTES * prints.length;
    }
}
