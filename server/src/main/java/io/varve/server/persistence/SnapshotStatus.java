package io.varve.server.persistence;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The state of saving and loading snapshots, for INFO. Guarded by its own monitor; the thread that saves or loads
 * writes the volatile progress.
 */
public final class SnapshotStatus {
    /** The duration of a save that never was. */
    public static final long NONE = -1;

    private final LongSupplier nanoTime;
    private boolean saving;
    private long savingSinceNanos;
    private long changesAtStart;
    private volatile boolean lastFailed;
    private long lastSeconds = NONE;
    private long saves;
    private long lastSaveSeconds;
    private long changesAtSave;
    private long lastAttemptSeconds;
    private volatile long keys;
    private volatile long totalKeys;
    private volatile long loadedKeys;
    private volatile long expiredKeys;
    private volatile boolean timedOnFlash;

    /**
     * @param startSeconds the start of the process, which counts as a save
     * @param nanoTime a clock for durations, ns
     */
    public SnapshotStatus(long startSeconds, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        lastSaveSeconds = startSeconds;
    }

    /**
     * A save has begun.
     *
     * @param changes as for {@link #covers}
     */
    public synchronized void begun(long changes) {
        saving = true;
        savingSinceNanos = nanoTime.getAsLong();
        changesAtStart = changes;
        keys = 0;
        totalKeys = 0;
    }

    /** @param changes the number of changes since the start of the process that the running save covers */
    public synchronized void covers(long changes) {
        changesAtStart = changes;
    }

    /**
     * Whether the last save met hashes on flash whose fields may have times. The version of a file depends on that, and
     * is written first.
     */
    public boolean hasTimedOnFlash() {
        return timedOnFlash;
    }

    /** See {@link #hasTimedOnFlash}. */
    public void timedOnFlash(boolean value) {
        timedOnFlash = value;
    }

    /** @param count about how many keys the running save is going to write */
    public void expects(long count) {
        totalKeys = count;
    }

    /** Whether the process has saved a snapshot. */
    public synchronized boolean hasSaved() {
        return saves > 0;
    }

    /** @param count keys written so far */
    public void progress(long count) {
        keys = count;
    }

    public synchronized void succeeded(long nowSeconds) {
        end(nowSeconds, false);
        saves++;
        lastSaveSeconds = nowSeconds;
        changesAtSave = changesAtStart;
    }

    public synchronized void failed(long nowSeconds) {
        end(nowSeconds, true);
    }

    /** The saver is free for the next save: a client that sees no save running can begin one. */
    public synchronized void ended() {
        saving = false;
    }

    private void end(long nowSeconds, boolean failed) {
        lastFailed = failed;
        lastSeconds = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - savingSinceNanos);
        lastAttemptSeconds = nowSeconds;
        keys = 0;
        totalKeys = 0;
    }

    public void loaded(long keysLoaded, long keysExpired) {
        loadedKeys = keysLoaded;
        expiredKeys = keysExpired;
    }

    /** Whether a save runs, or its saver is not yet {@linkplain #ended free} for the next one. */
    public synchronized boolean isSaving() {
        return saving;
    }

    /** Whether the last attempt failed. */
    public boolean hasFailed() {
        return lastFailed;
    }

    /** When the last attempt ended, seconds since the epoch; 0 if there was none. */
    public synchronized long lastAttemptSeconds() {
        return lastAttemptSeconds;
    }

    /** When the last successful save ended, seconds since the epoch; the start of the process before that. */
    public synchronized long lastSaveSeconds() {
        return lastSaveSeconds;
    }

    /** @param changes changes since the start of the process */
    public synchronized long changesSinceSave(long changes) {
        return changes - changesAtSave;
    }

    /** Seconds that the last attempt took, or {@link #NONE}. */
    public synchronized long lastSeconds() {
        return lastSeconds;
    }

    /** Seconds since the running save began, or {@link #NONE}. See {@link #isSaving}. */
    public synchronized long currentSeconds() {
        return saving ? TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - savingSinceNanos) : NONE;
    }

    /** Successful saves. */
    public synchronized long saves() {
        return saves;
    }

    /** Keys that the running save has written. */
    public long keys() {
        return keys;
    }

    /** Keys that it is going to write, about. */
    public long totalKeys() {
        return totalKeys;
    }

    /** Keys of the snapshot that the server started with. */
    public long loadedKeys() {
        return loadedKeys;
    }

    /** Keys of that snapshot that had expired, and were not loaded. */
    public long expiredKeys() {
        return expiredKeys;
    }
}
