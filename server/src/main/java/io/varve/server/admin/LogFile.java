package io.varve.server.admin;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

import io.varve.server.config.ConfigException;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Implements the setting {@code logfile}: sends the log to a file and nowhere else. Confined to the thread that opens
 * and closes it.
 */
public final class LogFile implements AutoCloseable {
    private static final String LOGBACK = "ch.qos.logback.classic.LoggerContext";

    private final @Nullable LogbackFile file;

    private LogFile(@Nullable LogbackFile file) {
        this.file = file;
    }

    /**
     * Appends further log entries to a file.
     *
     * @param path null leaves the log unchanged
     * @throws ConfigException if the file cannot be written
     */
    public static LogFile open(@Nullable Path path) {
        if (path == null) {
            return new LogFile(null);
        }
        // A program that embeds the server may use another backend, and Logback's classes are then missing.
        if (!LoggerFactory.getILoggerFactory().getClass().getName().equals(LOGBACK)) {
            throw new ConfigException("logfile " + path + ": needs logback-classic on the class path");
        }
        try {
            FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
        } catch (IOException refused) {
            throw new ConfigException("logfile " + path + ": cannot be written: " + reason(path, refused));
        }
        return new LogFile(LogbackFile.open(path));
    }

    private static String reason(Path path, IOException refused) {
        return switch (refused) {
            case NoSuchFileException _ -> "its directory does not exist";
            case AccessDeniedException _ -> "permission denied";
            default -> Files.isDirectory(path) ? "it is a directory" : String.valueOf(refused.getMessage());
        };
    }

    /** Restores the earlier appenders. */
    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
    }
}
