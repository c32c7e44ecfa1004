package io.varve.experiments.wire;

import java.io.IOException;

/** The server replied with an error; the message is its text. Immutable. */
public final class RespErrorException extends IOException {
    private static final long serialVersionUID = 1L;

    public RespErrorException(String message) {
        super(message);
    }
}
