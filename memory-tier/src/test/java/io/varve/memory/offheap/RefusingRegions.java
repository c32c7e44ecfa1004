package io.varve.memory.offheap;

import java.util.function.LongPredicate;

/** Regions of a system that refuses memory on demand. Immutable: static methods only. */
public final class RefusingRegions {
    private RefusingRegions() {}

    /** @param refuses called with the bytes of each range of address space to be taken from the system */
    public static Regions of(LongPredicate refuses) {
        return new Regions(true, bytes -> refuses.test(bytes) ? 0 : NativeCalls.map(bytes));
    }
}
