package io.varve.server.command.session;

/**
 * The arrival time of a command that may block, kept until its reply. Confined to its event loop. The timeout also
 * counts while the command is delayed before it has checked its keys.
 */
public final class BlockingDeadline {
    private final long arrivalNanos;
    private boolean over;

    /** @param arrivalNanos arrival time on the ticker's nanosecond clock */
    public BlockingDeadline(long arrivalNanos) {
        this.arrivalNanos = arrivalNanos;
    }

    public long arrivalNanos() {
        return arrivalNanos;
    }

    /** Marks the timeout as passed while the command was delayed. */
    public void markExpired() {
        over = true;
    }

    /** Whether the command is to be answered as timed out. */
    public boolean hasExpired() {
        return over;
    }
}
