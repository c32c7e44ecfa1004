package io.varve.server.rdb;

import java.io.Serial;

/** A payload is corrupt, or of an unknown form. Immutable; without a stack trace, because any client can cause it. */
public final class CorruptPayloadException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    public CorruptPayloadException() {
        super("the payload is corrupt", null, false, false);
    }
}
