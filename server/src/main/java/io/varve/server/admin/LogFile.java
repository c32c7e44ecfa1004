package io.varve.server.admin;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.FileAppender;
import io.varve.server.config.ConfigException;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * What the setting {@code logfile} does: the log goes to a file, and to nowhere else. Confined to the thread that opens and
 * closes it.
 */
public final class LogFile implements AutoCloseable {
    private static final String LINE = "%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level %logger{0} - %msg%n";

    private final @Nullable FileAppender<ILoggingEvent> file;
    private final List<Appender<ILoggingEvent>> before;

    private LogFile(@Nullable FileAppender<ILoggingEvent> file, List<Appender<ILoggingEvent>> before) {
        this.file = file;
        this.before = before;
    }

    /**
     * Appends what is logged from now on to a file.
     *
     * @param path null: the log goes where it went
     * @throws ConfigException if the file cannot be written
     */
    public static LogFile open(@Nullable Path path) {
        if (path == null || !(LoggerFactory.getILoggerFactory() instanceof LoggerContext logging)) {
            return new LogFile(null, List.of());
        }
        try {
            FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
        } catch (IOException refused) {
            throw new ConfigException("logfile " + path + ": cannot be written: " + reason(path, refused));
        }
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(logging);
        encoder.setPattern(LINE);
        encoder.start();
        FileAppender<ILoggingEvent> file = new FileAppender<>();
        file.setContext(logging);
        file.setName("logfile");
        file.setFile(path.toString());
        file.setEncoder(encoder);
        file.start();
        Logger root = logging.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        List<Appender<ILoggingEvent>> before = new ArrayList<>();
        for (Iterator<Appender<ILoggingEvent>> each = root.iteratorForAppenders(); each.hasNext();) {
            before.add(each.next());
        }
        root.addAppender(file);
        before.forEach(root::detachAppender);
        return new LogFile(file, before);
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
        if (file != null && LoggerFactory.getILoggerFactory() instanceof LoggerContext logging) {
            Logger root = logging.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
            before.forEach(root::addAppender);
            root.detachAppender(file);
            file.stop();
        }
    }
}
