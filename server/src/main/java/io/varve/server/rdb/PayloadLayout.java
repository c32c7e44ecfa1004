package io.varve.server.rdb;

/**
 * The layout of a DUMP payload. Immutable: constants only.
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
    /** The version that is written, except for hashes with field expiry times. */
    static final int VERSION = 10;
    /** The version of a hash with field expiry times, which older versions cannot represent. */
    static final int TIMED_VERSION = 12;
    /** The latest version that is read. */
    static final int LATEST_VERSION = 12;

    static final int STRING = 0;
    static final int LIST = 1;
    static final int SET = 2;
    /** A sorted set with scores as text. */
    static final int SORTED_SET = 3;
    static final int HASH = 4;
    /** A sorted set with scores as doubles. */
    static final int SORTED_SET_2 = 5;
    static final int HASH_ZIPMAP = 9;
    static final int LIST_ZIPLIST = 10;
    static final int SET_INTEGERS = 11;
    static final int SORTED_SET_ZIPLIST = 12;
    static final int HASH_ZIPLIST = 13;
    /** A list of ziplists. */
    static final int LIST_OF_ZIPLISTS = 14;
    /** A stream as Redis 5 wrote it. */
    static final int STREAM = 15;
    static final int HASH_LISTPACK = 16;
    static final int SORTED_SET_LISTPACK = 17;
    /** A list of listpacks and single elements. */
    static final int LIST_OF_LISTPACKS = 18;
    /** A stream with its first ID, greatest deleted ID and count of additions, and with what groups have read. */
    static final int STREAM_2 = 19;
    static final int SET_LISTPACK = 20;
    /** A stream whose consumers also have the time of their last successful call. */
    static final int STREAM_3 = 21;
    /** A hash in which absolute expiry times precede the fields, as release candidates wrote it. */
    static final int HASH_TIMED_EARLY = 22;
    /** A hash as a listpack of fields, values and expiry times, as release candidates wrote it. */
    static final int HASH_TIMED_LISTPACK_EARLY = 23;
    /**
     * A hash that begins with the earliest expiry time. Before each field is the difference to it plus one, or 0 for no
     * time.
     */
    static final int HASH_TIMED = 24;
    /** A hash that begins with the earliest expiry time; the times in the listpack are absolute. */
    static final int HASH_TIMED_LISTPACK = 25;
    /**
     * A hash as Valkey's own RDB files have it: each field and value is followed by an expiry time, or -1. No byte of a
     * payload or file has this value.
     */
    static final int HASH_TIMED_VALKEY = 0x100;
    /** Maximum expiry time of a field. */
    static final long LATEST_TIME = (1L << 48) - 1;

    /** In the old form of scores, lengths from here on are codes: not a number, positive and negative infinity. */
    static final int FIRST_SCORE_CODE = 253;

    /** A list node that is one element, or a listpack. */
    static final int NODE_PLAIN = 1;
    static final int NODE_PACKED = 2;

    private PayloadLayout() {}
}
