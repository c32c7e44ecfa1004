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
     * Writes the first base of a log that has none, on the thread that saves snapshots.
     *
     * @throws IOException if it cannot be written; it is due then
     */
    void complete() throws IOException;

    /**
     * Replaces the data without recording how, on the thread that saves snapshots, and begins the log anew with what is
     * there then. Until that is on disk, a start finds the data of before. Changes that clients make meanwhile are not
     * recorded.
     */
    void replaceData(Snapshots.Task replacement) throws Exception;

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
