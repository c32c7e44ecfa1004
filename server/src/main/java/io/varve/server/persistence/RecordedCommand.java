package io.varve.server.persistence;

import java.nio.charset.StandardCharsets;

/** The words of commands that are recorded in place of those that clients have sent. Immutable. */
public enum RecordedCommand {
    DEL, FLUSHDB, HDEL, HPERSIST, HPEXPIREAT, HSET, HSETEX, LMOVE, LPOP, PERSIST, PEXPIREAT, RESTORE, RPOP, SELECT, SET, SREM, SWAPDB, XACK, XADD, XCLAIM, XGROUP, XTRIM, ZPOPMAX, ZPOPMIN,
    // Options
    ABSTTL, CREATECONSUMER, ENTRIESREAD, EXACTLY(
            "="), FIELDS, FORCE, FREQ, IDLETIME, JUSTID, KEEPTTL, LASTID, LEFT, MAXLEN, MINID, NOMKSTREAM, PXAT, REPLACE, RETRYCOUNT, RIGHT, SETID, TIME;

    // Nobody changes them.
    @SuppressWarnings("ImmutableEnumChecker")
    private final byte[] bytes;

    RecordedCommand() {
        bytes = name().getBytes(StandardCharsets.US_ASCII);
    }

    RecordedCommand(String word) {
        bytes = word.getBytes(StandardCharsets.US_ASCII);
    }

    /** The word; not to be changed. */
    byte[] bytes() {
        return bytes;
    }
}
