package io.varve.server.resp;

/**
 * There is currently no memory for a connection's buffer. Immutable; without a stack trace, since it is a result and
 * not a bug.
 *
 * <p>Nothing can be evicted under a shard's lock. A caller without a lock may reclaim memory and retry, if {@link
 * #isRecoverable}.
 */
public final class NoBufferException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final long bytes;
    private final boolean isRecoverable;

    private NoBufferException(String message, long bytes, boolean isRecoverable) {
        super(message, null, false, false);
        this.bytes = bytes;
        this.isRecoverable = isRecoverable;
    }

    /** Maxmemory has no free memory for a buffer. */
    public static NoBufferException of(long bytes) {
        return new NoBufferException("maxmemory has no space for a buffer of " + bytes + " bytes", bytes, true);
    }

    /** The heap budget for objects around buffers is exhausted. */
    public static NoBufferException ofHeap() {
        return new NoBufferException("the heap budget for buffers is used up", 0, false);
    }

    /** The requested size. */
    public long bytes() {
        return bytes;
    }

    /** Whether eviction can help. */
    public boolean isRecoverable() {
        return isRecoverable;
    }
}
