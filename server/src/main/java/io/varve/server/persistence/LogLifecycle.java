package io.varve.server.persistence;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * Opens and closes the log, and replaces its base and increments by a new base. Thread-safe. {@link #open},
 * {@link #close}, {@link #complete} and {@link #replaceData} wait for the disk.
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
     * Writes a base on the thread that saves snapshots, if the log has none or the present one is out of date.
     *
     * @throws IOException if the base cannot be written: {@link #rewriteIfDue} tries again
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
