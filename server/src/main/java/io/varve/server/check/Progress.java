package io.varve.server.check;

import java.io.PrintStream;

import io.varve.memory.item.Ticker;

/**
 * Shows on a terminal how much of a file was read, if that takes long. Confined to one thread. Elsewhere it prints
 * nothing.
 */
final class Progress {
    private static final long FIRST_NANOS = 1_000_000_000;
    private static final long INTERVAL_NANOS = 250_000_000;
    private static final String CLEAR_LINE = "\r\033[K";

    private final boolean terminal;
    private final Ticker ticker;
    private final PrintStream out;
    private String name = "";
    private long showAt;
    private boolean shown;

    Progress(boolean terminal, Ticker ticker, PrintStream out) {
        this.terminal = terminal;
        this.ticker = ticker;
        this.out = out;
    }

    /** Begins a file. */
    void begin(String file) {
        name = file;
        showAt = terminal ? ticker.nanoTime() + FIRST_NANOS : 0;
    }

    /** So many bytes of a file were read. */
    void at(long offset, long length) {
        if (terminal && ticker.nanoTime() - showAt > 0) {
            showAt = ticker.nanoTime() + INTERVAL_NANOS;
            shown = true;
            out.print(CLEAR_LINE + name + ": " + 100 * offset / Math.max(1, length) + " %");
            out.flush();
        }
    }

    /** Removes what is shown. */
    void end() {
        if (shown) {
            shown = false;
            out.print(CLEAR_LINE);
            out.flush();
        }
    }
}
