package io.varve.experiments.simulate;

/** Mixes a number to 64 well-distributed bits: the finalizer of MurmurHash3. Immutable: static methods only. */
final class Mixing {
    private static final long FIRST = 0xFF51_AFD7_ED55_8CCDL;
    private static final long SECOND = 0xC4CE_B9FE_1A85_EC53L;
    private static final int SHIFT = 33;

    private Mixing() {}

    static long mix(long number) {
        long mixed = (number ^ number >>> SHIFT) * FIRST;
        mixed = (mixed ^ mixed >>> SHIFT) * SECOND;
        return mixed ^ mixed >>> SHIFT;
    }
}
