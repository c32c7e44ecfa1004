package io.varve.server.command.value;

/** The meaning of an item's two encoding bits, by type, and of a tree's flags. Immutable: constants only. */
public final class Encodings {
    /** A string whose encoding follows from its bytes: int, embstr or raw. */
    public static final int STRING_BY_CONTENT = 0;
    /** A string that was changed in place (APPEND, SETRANGE, SETBIT …): raw, whatever its bytes. */
    public static final int STRING_RAW = 1;
    /** A string written by INCRBYFLOAT: embstr or raw, but never int. */
    public static final int STRING_TEXT = 2;
    /** A hash within hash-max-listpack-entries and -value. */
    public static final int HASH_LISTPACK = 0;
    /** A hash that has exceeded these limits at some time. */
    public static final int HASH_HASHTABLE = 1;
    // A packed hash whose fields have expiry times is marked by Item.TIMED, and stores one of these beside the fields.
    /** A list in one item. */
    public static final int LIST_PACKED = 0;

    /** A set of integers in ascending order, at most set-max-intset-entries: an intset. */
    public static final int SET_INTEGERS = 0;
    /** A set within set-max-listpack-entries and -value. */
    public static final int SET_LISTPACK = 1;
    /** A set that has exceeded these limits at some time. */
    public static final int SET_HASHTABLE = 2;

    /** A sorted set within zset-max-listpack-entries and -value. */
    public static final int SORTED_SET_LISTPACK = 0;
    /** A sorted set that has exceeded these limits at some time. */
    public static final int SORTED_SET_SKIPLIST = 1;

    private Encodings() {}
}
