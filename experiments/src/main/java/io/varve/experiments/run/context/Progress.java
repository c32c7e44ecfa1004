package io.varve.experiments.run.context;

import java.io.Console;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

import io.varve.experiments.result.Sample;

/**
 * Prints the progress: one line that is overwritten on a terminal, else a plain line every ten seconds. Guarded by
 * {@code this}; its own daemon thread prints.
 */
public final class Progress implements AutoCloseable {
    private static final long TERMINAL_PERIOD_MILLIS = 1000;
    private static final long PLAIN_PERIOD_MILLIS = 10_000;
    private static final String REWRITE = "\r\u001b[K";

    private final PrintStream out;
    private final boolean terminal;
    private final int total;
    private final List<RunContext> active = new ArrayList<>();
    private final Cancellation closed = new Cancellation();
    private int done;
    private long endNanos;

    /**
     * @param total number of runs
     * @param done number of runs that were complete before
     * @param estimateSeconds estimated duration of the remaining runs, s
     */
    @SuppressWarnings("SystemConsoleNull") // NullAway's model of the JDK still has it nullable
    public Progress(PrintStream out, int total, int done, long estimateSeconds) {
        this.out = out;
        Console console = System.console();
        this.terminal = console != null && console.isTerminal();
        this.total = total;
        this.done = done;
        this.endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(estimateSeconds);
        Thread.ofPlatform().daemon().name("progress").start(this::watch);
    }

    private void watch() {
        while (!closed.await(terminal ? TERMINAL_PERIOD_MILLIS : PLAIN_PERIOD_MILLIS)) {
            print();
        }
    }

    private synchronized void print() {
        for (RunContext context : active) {
            Monitor monitor = context.monitor;
            Sample sample = monitor == null ? null : monitor.latest();
            String line = String.format(Locale.ROOT, "[%d/%d] %s: %s %s, %,.0f ops/s, %s, about %s left",
                    done + 1, total, context.run.id(), context.phase, Durations.clock(context.elapsedMillis() / 1000),
                    context.gauge.operationsPerSecond(),
                    sample == null ? "no sample yet" : memory(sample),
                    Durations.clock(TimeUnit.NANOSECONDS.toSeconds(endNanos - System.nanoTime())));
            if (terminal && active.size() == 1) {
                out.print(REWRITE + line);
                out.flush();
            } else {
                out.println(line);
            }
        }
    }

    private static String memory(Sample sample) {
        return String.format(Locale.ROOT, "%,.1f MB in %,d keys (rss %,.1f MB)", sample.usedMemory() / 1e6,
                sample.keys(), sample.usedMemoryRss() / 1e6);
    }

    public synchronized void begin(RunContext context) {
        active.add(context);
    }

    public synchronized void end(RunContext context) {
        active.remove(context);
        done++;
    }

    /** Replaces the estimated duration of the remaining runs, in seconds. */
    public synchronized void estimate(long seconds) {
        endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    /** Prints a line that is not overwritten. */
    public synchronized void say(String line) {
        out.println((terminal ? REWRITE : "") + line);
    }

    @Override
    public void close() {
        closed.cancel();
    }
}
