package io.varve.memory.segment;

/**
 * What the live items of each penalty class take, nodes included. Guarded by the lock of the shard whose items they are.
 *
 * <p>The first class has what the others have not: where penalties are not tracked all items are of it, and nothing is counted.
 */
final class ClassBytes {
    private final long[] bytes = new long[ItemLayout.MAX_PENALTY_CLASS + 1];
    private long counted;

    /** @param more may be negative */
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
