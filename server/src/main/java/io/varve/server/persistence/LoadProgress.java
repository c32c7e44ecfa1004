package io.varve.server.persistence;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.varve.memory.item.Ticker;

/**
 * How far the load at the start, or of a primary's data, has come, for INFO and for clients, which are refused
 * meanwhile. Thread-safe: the thread that loads writes it, any thread reads it or cancels the load.
 */
public final class LoadProgress {
    /** Thrown out of a load that was cancelled. */
    public static final class CancelledException extends IOException {
        private static final long serialVersionUID = 1L;

        CancelledException() {
            super("the server was shut down while it loaded its data");
        }
    }

    private static final int PERCENT = 100;

    private final Ticker ticker;
    private volatile boolean loading;
    private volatile boolean cancelled;
    private volatile long startSeconds;
    private volatile long startNanos;
    private volatile long totalBytes;
    /** Bytes of the files that are done. */
    private final AtomicLong doneBytes = new AtomicLong();
    /** Bytes of the file that is being loaded. */
    private volatile long fileBytes;

    public LoadProgress(Ticker ticker) {
        this.ticker = ticker;
    }

    /** Clients are refused from now on. */
    public void begin() {
        startSeconds = TimeUnit.MILLISECONDS.toSeconds(ticker.wallMillis());
        startNanos = ticker.nanoTime();
        doneBytes.set(0);
        fileBytes = 0;
        loading = true;
    }

    /** @param bytes the sizes of all files together */
    public void expects(long bytes) {
        totalBytes = bytes;
    }

    /**
     * The load has come to an offset of the present file.
     *
     * @throws CancelledException if the load has to end
     */
    public void reached(long offset) throws CancelledException {
        fileBytes = offset;
        if (cancelled && loading) {
            throw new CancelledException();
        }
    }

    /** A file is loaded. */
    public void fileDone() {
        doneBytes.addAndGet(fileBytes);
        fileBytes = 0;
    }

    /** All data is there. */
    public void end() {
        loading = false;
    }

    /** Ends the load, if there is one, as soon as possible. */
    public void cancel() {
        cancelled = true;
    }

    public boolean isLoading() {
        return loading;
    }

    /** When the load began, seconds since the epoch. */
    public long startSeconds() {
        return startSeconds;
    }

    public long totalBytes() {
        return totalBytes;
    }

    public long loadedBytes() {
        return doneBytes.get() + fileBytes;
    }

    /** The share of the bytes that is loaded, percent. */
    public double percentage() {
        long total = totalBytes;
        return total == 0 ? 0 : (double) PERCENT * Math.min(total, loadedBytes()) / total;
    }

    /** Estimated seconds until the load ends: at least 1. */
    public long secondsLeft() {
        long loaded = Math.max(1, loadedBytes());
        double elapsed = TimeUnit.NANOSECONDS.toSeconds(ticker.nanoTime() - startNanos);
        return Math.max(1, (long) (elapsed * Math.max(0, totalBytes - loaded) / loaded));
    }
}
