package io.varve.server.script;

import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

/**
 * What one event loop's script does at the moment. Its loop writes it; other threads read it, and may request the end
 * of the script. Thread-safe.
 *
 * <p>A run begins and ends without a fence: a thread that looks for slow scripts sees a run of several seconds in any
 * case, and {@link #kill} identifies the run by its start.
 */
public final class ScriptRun {
    private static final long IDLE = 0;

    private final Object killing = new Object();
    private long startNanos = IDLE;
    private boolean isFunction;
    private boolean isReplay;
    private boolean hasWritten;
    private long scriptBytes;
    private long functionBytes;
    /** Set once the run is slow; guarded by {@link #killing}, like the following. */
    private @Nullable RunDescription description;
    private boolean isSlow;
    private volatile boolean isKilled;
    /** The number of slow runs of all loops. */
    private final AtomicInteger slowRuns;

    /** The command that runs a script. Immutable. */
    public record RunDescription(String name, List<String> command) {}

    /** @param slowRuns counts the slow runs of all loops */
    ScriptRun(AtomicInteger slowRuns) {
        this.slowRuns = slowRuns;
    }

    /** Begins a run. */
    public void begin(boolean function, boolean replay, long nowNanos) {
        isFunction = function;
        isReplay = replay;
        hasWritten = false;
        startNanos = nowNanos == IDLE ? 1 : nowNanos;
    }

    /**
     * Ends a run.
     *
     * @param heapBytes heap of the values of scripts, or of those of functions, after it
     */
    public void end(long heapBytes) {
        if (isFunction) {
            functionBytes = heapBytes;
        } else {
            scriptBytes = heapBytes;
        }
        startNanos = IDLE;
        if (isSlow) {
            synchronized (killing) {
                isSlow = false;
                isKilled = false;
                description = null;
            }
            slowRuns.decrementAndGet();
        }
    }

    /** The run is slow: from now on it can be killed. Called by its loop. */
    public void slow(RunDescription said) {
        synchronized (killing) {
            description = said;
            isSlow = true;
        }
        slowRuns.incrementAndGet();
    }

    /** The command of a slow run; null if the run is not slow. */
    public @Nullable RunDescription description() {
        synchronized (killing) {
            return description;
        }
    }

    /** Whether its loop has found the run slow. */
    public boolean isSlow() {
        synchronized (killing) {
            return isSlow;
        }
    }

    public boolean isFunction() {
        return isFunction;
    }

    /** Whether the command came from a log or a primary, so that the run must not be killed. */
    public boolean isReplay() {
        return isReplay;
    }

    /** The script calls a command that writes: it can no longer be killed. False if it was killed just before. */
    public boolean tryWrite() {
        if (!hasWritten && isSlow) {
            synchronized (killing) {
                if (isKilled) {
                    return false;
                }
                hasWritten = true;
            }
        }
        hasWritten = true;
        return true;
    }

    /** Whether the script has to end. */
    public boolean isKilled() {
        return isKilled;
    }

    /** Whether a script runs; one that has begun just now may not be seen. */
    boolean isRunning() {
        VarHandle.acquireFence();
        return startNanos != IDLE;
    }

    /** How long the script has run, ms. */
    public long millis(long nowNanos) {
        VarHandle.acquireFence();
        long start = startNanos;
        return start == IDLE ? 0 : TimeUnit.NANOSECONDS.toMillis(nowNanos - start);
    }

    /** Heap of the values of scripts after the last run, bytes. */
    public long scriptBytes() {
        return scriptBytes;
    }

    /** Heap of the values of functions after the last run, bytes. */
    public long functionBytes() {
        return functionBytes;
    }

    /** Requests the end of a slow script. @return false if it has written or ended */
    boolean kill() {
        synchronized (killing) {
            if (!isSlow || hasWritten) {
                return false;
            }
            isKilled = true;
            return true;
        }
    }
}
