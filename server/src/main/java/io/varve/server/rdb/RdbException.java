package io.varve.server.rdb;

import java.io.IOException;

/** An RDB file that cannot be read: the message says where and why. Immutable. */
public final class RdbException extends IOException {
    private static final long serialVersionUID = 1L;

    private final boolean damage;

    /** @param offset position in the file, bytes */
    public RdbException(long offset, String reason) {
        this(offset, reason, true);
    }

    private RdbException(long offset, String reason, boolean damage) {
        super("offset " + offset + ": " + reason);
        this.damage = damage;
    }

    /** The file holds what Varve cannot read, which is no damage. */
    static RdbException unsupported(long offset, String reason) {
        return new RdbException(offset, reason, false);
    }

    /** Whether the file is damaged. If not, it may be right, and another program may read it. */
    public boolean isDamage() {
        return damage;
    }
}
