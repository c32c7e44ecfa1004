package io.varve.server.rdb;

/**
 * Receives the value of a payload: one string, or elements of one kind. Confined to its user. The bytes lie in the
 * payload or in the reader's {@link PayloadMemory}.
 */
public interface ValueSink {
    /** The type of a payload's value. */
    enum Kind {
        STRING, LIST, SET, SORTED_SET, HASH, STREAM
    }

    /** Announces the type of the value. */
    void begin(Kind kind);

    /** Receives the string, an element of the list, or a member of the set. */
    void element(long address, int length);

    /** Receives a member of the sorted set. */
    void member(long address, int length, double score);

    /**
     * Receives a field of the hash.
     *
     * @param time the field's expiry time, milliseconds since the epoch, or {@link io.varve.memory.item.Item#NEVER}
     */
    void field(long field, int fieldLength, long value, int valueLength, long time);

    /** Receives the stream. */
    StreamSink stream();
}
