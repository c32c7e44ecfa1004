package io.varve.server.persistence;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * Opens and closes the log, and replaces its base and increments by a new base. Thread-safe; only {@link #open} waits
 * for the disk.
 */
public interface LogLifecycle extends AutoCloseable {
    /** The answer to a request. */
    enum Result {
        STARTED, SCHEDULED, RUNNING, CLOSED
    }

    /**
     * Begins to log at the start, while clients are refused.
     *
     * @param loaded the log that the data was loaded from; null: a base is written first
     */
    void open(@Nullable LogManifest loaded) throws IOException;

    /** Begins to rewrite the log, or schedules it if a snapshot is being saved. */
    Result rewrite();

    /**
     * Rewrites the log on the thread that saves snapshots, as a part of another task of it. A shutdown waits for it,
     * because that task has changed data without the log.
     */
    void rewriteNow() throws IOException;

    /** Begins a rewrite that was scheduled, or that is due because the log has grown. Called periodically. */
    void rewriteIfDue();

    /**
     * Whether the flash tier has lost keys, no one knows which, and the log has them still. Until it is rewritten, a
     * start would bring them back, so writes are refused: they may have found that a key is missing.
     */
    boolean hasLostKeys();

    /** Ends the log: what was appended is on disk then. */
    @Override
    void close();
}
