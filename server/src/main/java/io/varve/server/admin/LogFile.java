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
 * What the setting {@code logfile} does: the log goes to a file, and to nowhere else. Confined to the thread that opens and
 * closes it.
 */
public final class LogFile implements AutoCloseable {
    private static final String LOGBACK = "ch.qos.logback.classic.LoggerContext";

    private final @Nullable LogbackFile file;

    private LogFile(@Nullable LogbackFile file) {
        this.file = file;
    }

    /**
     * Appends what is logged from now on to a file.
     *
     * @param path null: the log goes where it went
     * @throws ConfigException if the file cannot be written
     */
    public static LogFile open(@Nullable Path path) {
        if (path == null) {
            return new LogFile(null);
        }
        // A program that embeds the server may bring another backend, and the classes of this one are missing then.
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
            case NoSuchFileException _ -> "its folder does not exist";
            case AccessDeniedException _ -> "permission denied";
            default -> Files.isDirectory(path) ? "it is a folder" : String.valueOf(refused.getMessage());
        };
    }

    /** The log goes where it went before. */
    @Override
    public void close() {
        if (file != null) {
            file.close();
        }
    }
}
