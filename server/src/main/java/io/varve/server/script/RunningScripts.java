package io.varve.server.script;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The scripts that run at the moment, one for each event loop. Thread-safe.
 *
 * <p>A script is slow once it has run for {@code busy-reply-threshold}. Until then other commands wait for its shards,
 * afterwards they get an error.
 */
public final class RunningScripts {
    private static final String NOTHING_RUNS = "NOTBUSY No scripts in execution right now.";
    private static final String HAS_WRITTEN = "UNKILLABLE Sorry the script already executed write commands against the"
            + " dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN"
            + " NOSAVE command.";
    private static final String IS_REPLAY = "UNKILLABLE The busy script was sent by a master instance in the context of"
            + " replication and cannot be killed.";
    /** Whether any script is slow, or commands may not run any more after {@link #endAll}. */
    public boolean keepsOthersOut() {
        return slowRuns.get() > 0 || haveEnded;
    }

    /** Whether any script runs; it may not be seen if it has begun just now. */
    public boolean isAny() {
        return Arrays.stream(runs).anyMatch(ScriptRun::isRunning);
    }

    /** SHUTDOWN NOSAVE: the server will not wait for scripts. */
    public void endAtShutdown() {
        endAtShutdown = true;
    }

    /** See {@link #endAtShutdown()}. */
    public boolean isEndedAtShutdown() {
        return endAtShutdown;
    }

    /** Ends all scripts, also those that have written. Nothing of them may be kept, and no other command runs. */
    public void endAll() {
        haveEnded = true;
    }

    /** Whether scripts have to end because the server does. */
    public boolean haveEnded() {
        return haveEnded;
    }

    /** The error for a command that a slow script keeps waiting. */
    public static final String BUSY_SCRIPT = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or"
            + " SHUTDOWN NOSAVE.";
    private static final String BUSY_FUNCTION = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or"
            + " SHUTDOWN NOSAVE.";

    /** Replaced when an event loop begins or ends. An array: commands that wait for a shard go through it. */
    private volatile ScriptRun[] runs = {};
    private final AtomicInteger slowRuns = new AtomicInteger();
    private volatile boolean endAtShutdown;
    private volatile boolean haveEnded;
    private final LongSupplier nanoTime;
    private final LongSupplier thresholdMillis;

    /** @param thresholdMillis {@code busy-reply-threshold}; 0 or less: no script is ever slow */
    public RunningScripts(LongSupplier nanoTime, LongSupplier thresholdMillis) {
        this.nanoTime = nanoTime;
        this.thresholdMillis = thresholdMillis;
    }

    /** The run of a new event loop. */
    public synchronized ScriptRun add() {
        ScriptRun run = new ScriptRun(slowRuns);
        ScriptRun[] more = Arrays.copyOf(runs, runs.length + 1);
        more[runs.length] = run;
        runs = more;
        return run;
    }

    /** An event loop has ended. */
    public synchronized void remove(ScriptRun run) {
        runs = Arrays.stream(runs).filter(each -> each != run).toArray(ScriptRun[]::new);
    }

    /** Heap of the values of scripts in all event loops, bytes. */
    public long scriptBytes() {
        return Arrays.stream(runs).mapToLong(ScriptRun::scriptBytes).sum();
    }

    /** Heap of the values of functions in all event loops, bytes. */
    public long functionBytes() {
        return Arrays.stream(runs).mapToLong(ScriptRun::functionBytes).sum();
    }

    public long nanoTime() {
        return nanoTime.getAsLong();
    }

    /** Whether a run has become slow. Called by its loop. */
    public boolean isOverdue(ScriptRun run) {
        long threshold = thresholdMillis.getAsLong();
        return threshold > 0 && run.millis(nanoTime()) >= threshold;
    }

    /** The slow script that started first; null if there is none. */
    public @Nullable ScriptRun slow() {
        ScriptRun first = null;
        for (ScriptRun run : runs) {
            if (run.isSlow() && (first == null || run.millis(nanoTime()) > first.millis(nanoTime()))) {
                first = run;
            }
        }
        return first;
    }

    /** The error for a command that a slow script keeps waiting; null if no script is slow. */
    public @Nullable String busyError() {
        ScriptRun slow = slow();
        return slow == null ? haveEnded ? BUSY_SCRIPT : null : slow.isFunction() ? BUSY_FUNCTION : BUSY_SCRIPT;
    }

    /**
     * SCRIPT KILL and FUNCTION KILL: requests the end of the slow script.
     *
     * @return the error; null if it will end
     */
    public @Nullable String kill(boolean function) {
        ScriptRun slow = slow();
        if (slow == null) {
            return NOTHING_RUNS;
        }
        if (slow.isReplay()) {
            return IS_REPLAY;
        }
        if (slow.isFunction() != function) {
            return slow.isFunction() ? BUSY_FUNCTION : BUSY_SCRIPT;
        }
        return slow.kill() ? null : slow.isSlow() ? HAS_WRITTEN : NOTHING_RUNS;
    }
}
