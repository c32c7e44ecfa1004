package io.varve.server.rdb;

import java.io.Serial;

/** The bytes are no value in a form that is known. Immutable; without a stack trace, because anybody can cause it. */
public final class CorruptPayloadException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    public CorruptPayloadException() {
        super("the payload is corrupt", null, false, false);
    }
}
