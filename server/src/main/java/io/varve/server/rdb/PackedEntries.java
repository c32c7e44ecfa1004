package io.varve.server.rdb;

/** The entries of a packed form within a payload, one after the other. Confined to its reader. */
interface PackedEntries {
    /** Begins with a form. @throws CorruptPayloadException if it is not that long, or else not what it says */
    void begin(long address, int length);

    /** Goes to the next entry, whose text the input then has; false, after a look at the end, if there is none. */
    boolean next();
}
