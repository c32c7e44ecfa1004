package io.varve.server.admin;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;

import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What one event loop counts. Single-writer its event loop, many readers: opaque writes, so that a reader sees each
 * number soon and the writer pays nothing.
 *
 * <p>A reset is a new epoch: the writer starts from zero when it sees it, and readers take counters of an old epoch for
 * zero meanwhile.
 */
public final class LoopCounters {
    /** What is counted for the loop as a whole. */
    public enum Total {
        COMMANDS(0), INPUT_BYTES(1), OUTPUT_BYTES(2), READS(3), WRITES(4);

        private final int place;

        Total(int place) {
            this.place = place;
        }
    }

    /** One second, the longest latency that a histogram tells apart. */
    private static final long MAX_NANOS = 1_000_000_000L;
    private static final int DIGITS = 2;

    private final AtomicLongArray totals = new AtomicLongArray(Total.values().length);
    private final AtomicLongArray calls;
    private final AtomicLongArray nanos;
    private final AtomicLongArray rejected;
    private final AtomicLongArray failed;
    private final AtomicReferenceArray<Histogram> histograms;
    /** Changes of the data since the start: no reset touches them. */
    private final AtomicLong changes = new AtomicLong();
    private volatile int epoch;

    /**
     * @param commandCount commands and subcommands
     */
    public LoopCounters(int commandCount) {
        calls = new AtomicLongArray(commandCount);
        nanos = new AtomicLongArray(commandCount);
        rejected = new AtomicLongArray(commandCount);
        failed = new AtomicLongArray(commandCount);
        histograms = new AtomicReferenceArray<>(commandCount);
    }

    /** Called by the writer: starts from zero if there was a reset. */
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
     * Commands of one kind ran.
     *
     * @param nanosEach how long each of them took
     */
    public void ran(int command, int times, long nanosEach, boolean track) {
        add(calls, command, times);
        add(nanos, command, times * nanosEach);
        if (track) {
            histogram(command).recordValueWithCount(Math.clamp(nanosEach, 1, MAX_NANOS), times);
        }
    }

    /** A command has changed the data so many times, as Redis counts it. */
    public void countChanges(long more) {
        changes.setOpaque(changes.getPlain() + more);
    }

    /** Changes of the data since the start. */
    public long changes() {
        return changes.getOpaque();
    }

    /** Commands are going to run again: the writer takes back what they have counted since there were so many. */
    public void takeBackChanges(long before) {
        changes.setOpaque(before);
    }

    /** One that ran replied an error. */
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

    /** Nanoseconds, or null if the command has not run. The writer goes on while it is read: counts may be a few late. */
    public @Nullable Histogram latencies(int command) {
        return histograms.get(command);
    }
}
