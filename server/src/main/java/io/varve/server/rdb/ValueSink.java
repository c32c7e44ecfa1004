package io.varve.server.rdb;

/**
 * Takes the value that a payload holds: one string, or elements of one kind. The bytes lie in the payload or in the reader's
 * {@link PayloadMemory}. Confined to its user.
 */
public interface ValueSink {
    /** What a payload holds. */
    enum Kind {
        STRING, LIST, SET, SORTED_SET, HASH
    }

    /** Comes first, and says what follows. */
    void begin(Kind kind);

    /** The string, an element of the list, a member of the set. */
    void element(long address, int length);

    /** A member of the sorted set. */
    void member(long address, int length, double score);

    /**
     * A field of the hash.
     *
     * @param time from when on it is not there, milliseconds since the epoch, or {@link io.varve.memory.item.Item#NEVER}
     */
    void field(long field, int fieldLength, long value, int valueLength, long time);
}
