package io.varve.server.rdb;

/**
 * The layout of an RDB file. Immutable: constants only.
 *
 * <pre>
 *  "REDIS" version (opcode fields | [times] type key value) … end checksum
 *     5       4                                              1      8
 * </pre>
 *
 * <p>Valkey 9 writes "VALKEY" and a version of three digits instead. Files before version 5 have no checksum; a
 * checksum of zero means none.
 */
final class RdbFileLayout {
    static final String MAGIC = "REDIS";
    static final String VALKEY_MAGIC = "VALKEY";
    static final int HEAD_BYTES = 9;
    static final int CHECKSUM_BYTES = Long.BYTES;
    static final int FIRST_CHECKSUM_VERSION = 5;
    /** The versions of Valkey's own files that are read. */
    static final int FIRST_VALKEY_VERSION = 80;
    static final int LAST_VALKEY_VERSION = 80;

    static final int END = 0xFF;
    static final int SELECT_DATABASE = 0xFE;
    static final int EXPIRE_SECONDS = 0xFD;
    static final int EXPIRE_MILLIS = 0xFC;
    static final int RESIZE_DATABASE = 0xFB;
    static final int AUXILIARY = 0xFA;
    static final int FREQUENCY = 0xF9;
    static final int IDLE = 0xF8;
    static final int MODULE_AUXILIARY = 0xF7;
    static final int FUNCTION_EARLY = 0xF6;
    static final int FUNCTION = 0xF5;
    static final int SLOT_INFO = 0xF4;
    static final int SLOT_IMPORT = 0xF3;

    /** Types of module values, which nothing here can read. */
    static final int MODULE = 6;
    static final int MODULE_2 = 7;
    /** In Valkey's own files: a hash whose fields may have expiry times; elsewhere 22 is another format. */
    static final int VALKEY_HASH_TIMED = 22;

    /** A field that precedes the entry of a pinned key. Redis ignores fields that it does not know, anywhere. */
    static final String PINNED = "varve-pinned";
    static final String YES = "1";

    private RdbFileLayout() {}
}
