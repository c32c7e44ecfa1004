package io.varve.server.admin;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.LoggerFactory;

/** Implements the setting {@code loglevel}. Immutable: static methods only; the logging system guards itself. */
public final class LogLevel {
    private LogLevel() {}

    /** Sets the level of Varve's own loggers, from debug to nothing; those of other libraries stay unchanged. */
    public static void apply(String level) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logging) {
            logging.getLogger("io.varve").setLevel(of(level));
        }
    }

    private static Level of(String level) {
        return switch (level) {
            case "debug" -> Level.TRACE;
            case "verbose" -> Level.DEBUG;
            case "notice" -> Level.INFO;
            case "warning" -> Level.WARN;
            case "nothing" -> Level.OFF;
            default -> throw new IllegalArgumentException(level);
        };
    }
}
