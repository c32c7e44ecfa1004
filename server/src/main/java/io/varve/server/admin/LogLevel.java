package io.varve.server.admin;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import org.slf4j.LoggerFactory;

/** What the setting {@code loglevel} does. Immutable: static methods only; the logging system guards itself. */
public final class LogLevel {
    private LogLevel() {}

    /** Lets Varve's own loggers say so much, from debug to nothing; other libraries' stay as they are. */
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
