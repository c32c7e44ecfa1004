package io.varve.server.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.slf4j.LoggerFactory;

/**
 * Collects the server's error log while it is open: Netty's leak reports and failed commands. Many threads: the list is
 * a concurrent one.
 */
public final class LeakWatch extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private static final int TRIES = 5;

    private final List<String> errors = new CopyOnWriteArrayList<>();
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);

    public LeakWatch() {
        setContext(root.getLoggerContext());
        start();
        root.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel().isGreaterOrEqual(Level.ERROR)) {
            errors.add(event.getFormattedMessage()
                    + (event.getThrowableProxy() == null ? "" : " " + event.getThrowableProxy().getMessage()));
        }
    }

    /** The errors that were logged so far. */
    public List<String> logged() {
        return List.copyOf(errors);
    }

    /** All errors so far. A leak is seen once its buffer is collected and another one is allocated. */
    // The collection is what finds a leak, and asking for it is the only way to have it now.
    @SuppressWarnings("System.gc")
    public List<String> errors() {
        for (int i = 0; i < TRIES; i++) {
            System.gc();
            ByteBuf probe = ByteBufAllocator.DEFAULT.directBuffer(64);
            probe.release();
        }
        return List.copyOf(errors);
    }

    @Override
    public void close() {
        root.detachAppender(this);
        stop();
    }
}
