package io.varve.server.admin;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.FileAppender;
import org.slf4j.LoggerFactory;

/** A file appender that replaces all appenders of Logback's root. Confined to the thread that opens and closes it. */
final class LogbackFile implements AutoCloseable {
    private static final String LINE = "%d{yyyy-MM-dd HH:mm:ss.SSS} %-5level %logger{0} - %msg%n";

    private final Logger root;
    private final FileAppender<ILoggingEvent> file;
    private final List<Appender<ILoggingEvent>> before;

    private LogbackFile(Logger root, FileAppender<ILoggingEvent> file, List<Appender<ILoggingEvent>> before) {
        this.root = root;
        this.file = file;
        this.before = before;
    }

    static LogbackFile open(Path path) {
        LoggerContext logging = (LoggerContext) LoggerFactory.getILoggerFactory();
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
        return new LogbackFile(root, file, before);
    }

    @Override
    public void close() {
        before.forEach(root::addAppender);
        root.detachAppender(file);
        file.stop();
    }
}
