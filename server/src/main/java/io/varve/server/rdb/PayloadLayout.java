package io.varve.server.rdb;

/**
 * What a payload consists of. Immutable: constants only.
 *
 * <pre>
 *  +------+-------+---------+----------+
 *  | type | value | version | checksum |
 *  +------+-------+---------+----------+
 *     1      n         2         8
 * </pre>
 */
final class PayloadLayout {
    static final int VERSION_BYTES = Short.BYTES;
    static final int FOOTER_BYTES = VERSION_BYTES + Long.BYTES;
    /** What is written... */
    static final int VERSION = 10;
    /** ... but of what has no form in it: a hash with times of fields. */
    static final int TIMED_VERSION = 12;
    /** The latest that is read. */
    static final int LATEST_VERSION = 12;

    static final int STRING = 0;
    static final int LIST = 1;
    static final int SET = 2;
    /** With scores as text. */
    static final int SORTED_SET = 3;
    static final int HASH = 4;
    /** With scores as doubles. */
    static final int SORTED_SET_2 = 5;
    static final int HASH_ZIPMAP = 9;
    static final int LIST_ZIPLIST = 10;
    static final int SET_INTEGERS = 11;
    static final int SORTED_SET_ZIPLIST = 12;
    static final int HASH_ZIPLIST = 13;
    /** Of ziplists. */
    static final int LIST_OF_ZIPLISTS = 14;
    static final int HASH_LISTPACK = 16;
    static final int SORTED_SET_LISTPACK = 17;
    /** Of listpacks, and elements that stand alone. */
    static final int LIST_OF_LISTPACKS = 18;
    static final int SET_LISTPACK = 20;
    /** Fields with times since the epoch in front of them, as release candidates wrote them. */
    static final int HASH_TIMED_EARLY = 22;
    /** A listpack of fields, values and times. */
    static final int HASH_TIMED_LISTPACK_EARLY = 23;
    /** The earliest time comes first; in front of each field is how much later it is, and one more, or 0 for no time. */
    static final int HASH_TIMED = 24;
    /** The earliest time comes first, but times in the listpack are since the epoch. */
    static final int HASH_TIMED_LISTPACK = 25;
    /** The latest time of a field. */
    static final long LATEST_TIME = (1L << 48) - 1;

    /** A node of a list that is one element, or a listpack. */
    static final int NODE_PLAIN = 1;
    static final int NODE_PACKED = 2;

    private PayloadLayout() {}
}
