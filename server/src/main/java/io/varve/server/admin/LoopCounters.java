package io.varve.server.admin;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The counters of one event loop. Single writer its event loop, many readers: writes are opaque, so that readers see
 * each number soon and the writer needs no fence.
 *
 * <p>A reset starts a new epoch. The writer starts from zero when it sees the epoch; until then readers treat counters
 * of an old epoch as zero.
 */
public final class LoopCounters {
    /** The totals of the event loop. */
    public enum Total {
        COMMANDS(0), INPUT_BYTES(1), OUTPUT_BYTES(2), READS(3), WRITES(4);

        private final int place;

        Total(int place) {
            this.place = place;
        }
    }

    /** One second: longer latencies are recorded as this. */
    private static final long MAX_NANOS = 1_000_000_000L;
    private static final int DIGITS = 2;

    private final AtomicLongArray totals = new AtomicLongArray(Total.values().length);
    private final AtomicLongArray calls;
    private final AtomicLongArray nanos;
    private final AtomicLongArray rejected;
    private final AtomicLongArray failed;
    private final AtomicReferenceArray<Histogram> histograms;
    /** Changes of the data since the start: a reset does not affect them. */
    private final AtomicLong changes = new AtomicLong();
    private volatile int epoch;

    /** @param commandCount number of commands and subcommands */
    public LoopCounters(int commandCount) {
        calls = new AtomicLongArray(commandCount);
        nanos = new AtomicLongArray(commandCount);
        rejected = new AtomicLongArray(commandCount);
        failed = new AtomicLongArray(commandCount);
        histograms = new AtomicReferenceArray<>(commandCount);
    }

    /** Called by the writer: starts from zero after a reset. */
    public void enter(int currentEpoch) {
        if (epoch == currentEpoch) {
            return;
        }
        for (int i = 0; i < totals.length(); i++) {
            totals.setOpaque(i, 0);
        }
        for (int i = 0; i < calls.length(); i++) {
            calls.setOpaque(i, 0);
            nanos.setOpaque(i, 0);
            rejected.setOpaque(i, 0);
            failed.setOpaque(i, 0);
            histograms.set(i, null);
        }
        epoch = currentEpoch;
    }

    public boolean isOf(int currentEpoch) {
        return epoch == currentEpoch;
    }

    public void add(Total total, long amount) {
        add(totals, total.place, amount);
    }

    /**
     * Counts several calls of one command.
     *
     * @param nanosEach duration of each of them
     */
    public void ran(int command, int times, long nanosEach, boolean track) {
        add(calls, command, times);
        add(nanos, command, times * nanosEach);
        if (track) {
            histogram(command).recordValueWithCount(Math.clamp(nanosEach, 1, MAX_NANOS), times);
        }
    }

    /** Counts a command's changes of the data, as Redis counts them. */
    public void countChanges(long more) {
        changes.setOpaque(changes.getPlain() + more);
    }

    /** Changes of the data since the start. */
    public long changes() {
        return changes.getOpaque();
    }

    /** Restores the count of changes before commands run again. */
    public void restoreChanges(long before) {
        changes.setOpaque(before);
    }

    /** Counts a call that ran and replied with an error. */
    public void failed(int command) {
        add(failed, command, 1);
    }

    public void rejected(int command) {
        add(rejected, command, 1);
    }

    private static void add(AtomicLongArray array, int index, long amount) {
        array.setOpaque(index, array.getPlain(index) + amount);
    }

    private Histogram histogram(int command) {
        Histogram histogram = histograms.getPlain(command);
        if (histogram == null) {
            histogram = new Histogram(1, MAX_NANOS, DIGITS);
            histograms.set(command, histogram);
        }
        return histogram;
    }

    public long total(Total total) {
        return totals.getOpaque(total.place);
    }

    public long calls(int command) {
        return calls.getOpaque(command);
    }

    public long nanos(int command) {
        return nanos.getOpaque(command);
    }

    public long rejectedCalls(int command) {
        return rejected.getOpaque(command);
    }

    public long failedCalls(int command) {
        return failed.getOpaque(command);
    }

    /**
     * Latencies in nanoseconds, or null if the command has not run. The writer continues during a read, so counts may
     * lag by a few.
     */
    public @Nullable Histogram latencies(int command) {
        return histograms.get(command);
    }
}
