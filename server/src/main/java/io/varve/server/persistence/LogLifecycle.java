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
     * Writes a base if a start would not find the present data in the log, as if it has none, on the thread that saves
     * snapshots.
     *
     * @throws IOException if it cannot be written; it is due then
     */
    void complete() throws IOException;

    /**
     * Replaces the data without recording how, and rewrites the log, on the thread that saves snapshots. Until the new
     * base is on disk, a start finds the data of before, with the changes that clients have made meanwhile.
     *
     * @param flush removes the data of before
     * @param load adds data without recording it
     */
    void replaceData(Runnable flush, Snapshots.Task load) throws Exception;

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
