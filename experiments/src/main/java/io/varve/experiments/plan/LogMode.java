package io.varve.experiments.plan;

import java.util.Locale;
import java.util.Map;

/**
 * When a server writes its append-only log to the disk. Immutable. {@link #ALWAYS} and {@link #EVERYSEC} are the
 * synchronous and the asynchronous log of Song and Pu, "Implementation and Evaluation of a Durable Distributed
 * Key-Value Store", section 3.4.
 */
public enum LogMode {
    /** There is no log. */
    NONE,
    /** The system decides. */
    NO,
    /** Once a second; replies do not wait. */
    EVERYSEC,
    /** Before each reply. */
    ALWAYS;

    /** A name for tables. */
    public String title() {
        return this == NONE ? "no log" : name().toLowerCase(Locale.ROOT);
    }

    /** Reads the mode from settings by their names in redis.conf. */
    public static LogMode of(Map<String, String> settings) {
        if (!settings.getOrDefault("appendonly", "no").equals("yes")) {
            return NONE;
        }
        return switch (settings.getOrDefault("appendfsync", "everysec")) {
            case "always" -> ALWAYS;
            case "no" -> NO;
            default -> EVERYSEC;
        };
    }
}
