package io.varve.server.rdb;

/**
 * Receives the stream of a payload: its blocks, its numbers, then each group with its pending entries and consumers.
 * Confined to its user. The bytes lie in the payload or in the reader's {@link PayloadMemory}.
 *
 * <p>Blocks are valid and in ascending order, and their entries are as many as the length says. All IDs of pending
 * entries ascend, and the consumers of a group own as many as the group has. The sink checks that names ascend, and
 * that a consumer's entries are pending in the group and no other consumer's.
 */
public interface StreamSink {
    /**
     * Receives a block of entries.
     *
     * @param ms the block's ID
     * @param address a block as {@link io.varve.memory.collection.stream.StreamBlock} draws it
     * @param entries how many of its entries are not deleted
     */
    void block(long ms, long seq, long address, int length, long entries);

    /** Receives the numbers of the stream. By default nothing is done. */
    default void facts(StreamFacts facts) {
        // For sinks that want the entries alone, as the next methods are.
    }

    /**
     * Receives a group. By default nothing is done.
     *
     * @param read the number of entries that it has read, -1 if unknown
     */
    default void group(long name, int nameLength, long lastMs, long lastSeq, long read) {
        // See facts().
    }

    /** Receives a pending entry of the last group. By default nothing is done. */
    default void pending(long ms, long seq, long deliveredMillis, long deliveries) {
        // See facts().
    }

    /** Receives a consumer of the last group. By default nothing is done. */
    default void consumer(long name, int nameLength, long seenMillis, long activeMillis) {
        // See facts().
    }

    /** Receives an entry that is pending for the last consumer. By default nothing is done. */
    default void owned(long ms, long seq) {
        // See facts().
    }
}
