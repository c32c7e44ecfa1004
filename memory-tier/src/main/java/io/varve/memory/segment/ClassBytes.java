package io.varve.memory.segment;

/**
 * Bytes of a shard's live items by penalty class, nodes included. Guarded by the shard's lock.
 *
 * <p>Class 0 is computed as the rest: while penalties are not tracked all items are in it, and nothing is counted.
 */
final class ClassBytes {
    private final long[] bytes = new long[ItemLayout.MAX_PENALTY_CLASS + 1];
    private long counted;

    /** @param more the difference in bytes, which may be negative */
    void add(int penaltyClass, long more) {
        if (penaltyClass != 0) {
            bytes[penaltyClass] += more;
            counted += more;
            assert bytes[penaltyClass] >= 0 : "class " + penaltyClass + " has " + bytes[penaltyClass] + " bytes";
        }
    }

    /** @param all bytes of all live items */
    long of(int penaltyClass, long all) {
        return penaltyClass == 0 ? all - counted : bytes[penaltyClass];
    }
}
