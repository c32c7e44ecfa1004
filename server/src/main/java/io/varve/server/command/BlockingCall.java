package io.varve.server.command;

/**
 * A command that may wait for keys, from when it was called until it is answered: its time runs also while it is held up, before it has looked
 * at them. Confined to its event loop.
 */
public final class BlockingCall {
    private final long calledNanos;
    private boolean over;

    /** @param calledNanos as the ticker tells nanoseconds */
    public BlockingCall(long calledNanos) {
        this.calledNanos = calledNanos;
    }

    long calledNanos() {
        return calledNanos;
    }

    /** Its time is over, and it has not been let go on. */
    void over() {
        over = true;
    }

    /** Whether it is to be answered as one that has waited in vain. */
    public boolean isOver() {
        return over;
    }
}
