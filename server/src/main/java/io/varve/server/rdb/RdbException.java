package io.varve.server.rdb;

import java.io.IOException;

/** An RDB file that cannot be read: the message says where and why. */
public final class RdbException extends IOException {
    private static final long serialVersionUID = 1L;

    /** @param offset position in the file, bytes */
    public RdbException(long offset, String reason) {
        super("offset " + offset + ": " + reason);
    }
}
