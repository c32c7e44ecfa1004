package io.varve.server.persistence;

import java.nio.charset.StandardCharsets;

/** The words of commands that are recorded in place of those that clients have sent. Immutable. */
public enum RecordedCommand {
    DEL, FLUSHDB, HDEL, HPEXPIREAT, LMOVE, LPOP, PERSIST, PEXPIREAT, RESTORE, RPOP, SELECT, SET, SREM, SWAPDB, ZPOPMAX, ZPOPMIN,
    // Options
    ABSTTL, FREQ, IDLETIME, KEEPTTL, LEFT, PXAT, REPLACE, RIGHT;

    // Nobody changes them.
    @SuppressWarnings("ImmutableEnumChecker")
    private final byte[] bytes = name().getBytes(StandardCharsets.US_ASCII);

    /** The word; not to be changed. */
    byte[] bytes() {
        return bytes;
    }
}
