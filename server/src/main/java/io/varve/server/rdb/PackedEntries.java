package io.varve.server.rdb;

/** Iterates over the entries of a packed form within a payload. Confined to its reader. */
interface PackedEntries {
    /** Begins to read a form. @throws CorruptPayloadException if its length or header is inconsistent */
    void begin(long address, int length);

    /**
     * Moves to the next entry, whose text the input then holds. At the end it checks the end byte and returns false.
     */
    boolean next();
}
