package io.varve.server.config;

/** A setting that cannot be: the message is one line that names it, its value and what is allowed. Immutable. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public ConfigException(String message) {
        super(message);
    }
}
