package io.varve.memory.segment;

/**
 * Bytes of a shard's live items by penalty class, nodes included. Guarded by the shard's lock.
 *
 * <p>Class 0 is computed as the rest: while penalties are not tracked all items are in it, and nothing is counted.
 */
final class ClassBytes {
    /** Shared by all shards, and never written. */
    private static final long[] NO_BYTES = new long[ItemLayout.MAX_PENALTY_CLASS + 1];

    /** {@link #NO_BYTES} until the first item of another class. */
    private long[] bytes = NO_BYTES;
    private long counted;

    /** @param more the difference in bytes, which may be negative */
    @SuppressWarnings("ReferenceEquality") // the shared array, not one that is equal
    void add(int penaltyClass, long more) {
        if (penaltyClass != 0) {
            if (bytes == NO_BYTES) {
                bytes = new long[NO_BYTES.length];
            }
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
