package io.varve.server.migration;

import java.io.IOException;

/** Slots could not be moved this time. The message says why. */
final class TransferException extends IOException {
    private static final long serialVersionUID = 1;

    TransferException(String message) {
        super(message);
    }
}
