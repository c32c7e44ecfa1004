package io.varve.server.resp;

/**
 * There is no memory for a connection's buffer now. Immutable; without a stack trace, since it is an answer, not a bug.
 *
 * <p>Under a shard's lock nothing can be evicted: who catches it without one may make room and try once more, if
 * {@link #roomHelps}.
 */
public final class NoBufferException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final long bytes;
    private final boolean roomHelps;

    private NoBufferException(String message, long bytes, boolean roomHelps) {
        super(message, null, false, false);
        this.bytes = bytes;
        this.roomHelps = roomHelps;
    }

    /** Maxmemory has no room for a buffer. */
    public static NoBufferException of(long bytes) {
        return new NoBufferException("no room in maxmemory for a buffer of " + bytes + " bytes", bytes, true);
    }

    /** The heap's share for what refers to buffers is used up. */
    public static NoBufferException ofHeap() {
        return new NoBufferException("too many buffers for the server's heap", 0, false);
    }

    /** What was asked for. */
    public long bytes() {
        return bytes;
    }

    /** Whether evicting something can help. */
    public boolean roomHelps() {
        return roomHelps;
    }
}
