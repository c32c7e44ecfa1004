package io.varve.cluster.client;

import java.io.IOException;

/**
 * No leading controller has replied in time. Immutable.
 *
 * <p>A change may have been made nevertheless. To send the same command again is safe.
 */
public final class ControllersUnavailableException extends IOException {
    private static final long serialVersionUID = 1;

    public ControllersUnavailableException(String message, Throwable cause) {
        super(message, cause);
    }
}
