package io.varve.server.command;

/** What the two encoding bits of an item mean, by type. Immutable: constants only. */
public final class Encodings {
    /** A string whose encoding follows from its bytes: int, embstr or raw. */
    public static final int STRING_BY_CONTENT = 0;
    /** A string that was changed in place (APPEND, SETRANGE, SETBIT …): raw, whatever its bytes are. */
    public static final int STRING_RAW = 1;
    /** A string that INCRBYFLOAT has written: embstr or raw, but never int. */
    public static final int STRING_TEXT = 2;
    /** A hash within hash-max-listpack-entries and -value. */
    public static final int HASH_LISTPACK = 0;
    /** A hash that has once been beyond them. */
    public static final int HASH_HASHTABLE = 1;

    private Encodings() {}
}
