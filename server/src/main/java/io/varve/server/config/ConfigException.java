package io.varve.server.config;

import org.jspecify.annotations.Nullable;

/** Settings are invalid: each line of the message names one setting, its value and the allowed values. Immutable. */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final @Nullable String setting;

    public ConfigException(String message) {
        this(null, message);
    }

    private ConfigException(@Nullable String setting, String message) {
        super(message);
        this.setting = setting;
    }

    /** Creates an exception about one setting that the message does not name. */
    public static ConfigException about(String setting, String message) {
        return new ConfigException(setting, message);
    }

    /** The setting that the exception is about, if the message does not name it. */
    public @Nullable String setting() {
        return setting;
    }
}
