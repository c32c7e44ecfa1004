package io.varve.memory.item;

/**
 * Thrown when maxmemory is reached and the policy evicts nothing more. Immutable; carries no stack trace, because it is
 * thrown on the request path.
 */
public final class CacheFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** For callers that do not know the requested size: a slab, a segment, a table. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    public static final CacheFullException INSTANCE = new CacheFullException(0, true);

    /** For values longer than any item, or any entry of a collection, can be. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    public static final CacheFullException TOO_LARGE = new CacheFullException(0, false);

    private final long bytes;
    private final boolean isRecoverable;

    private CacheFullException(long bytes, boolean isRecoverable) {
        super("command not allowed when used memory > 'maxmemory'.", null, false, false);
        this.bytes = bytes;
        this.isRecoverable = isRecoverable;
    }

    /** An exception for a refused item of this size. */
    public static CacheFullException of(long bytes) {
        return new CacheFullException(bytes, true);
    }

    /** This exception with the total bytes that the caller needs; {@link #TOO_LARGE} stays as it is. */
    public CacheFullException inAll(long all) {
        return isRecoverable ? of(all) : this;
    }

    /** Whether eviction can help. */
    public boolean isRecoverable() {
        return isRecoverable;
    }

    /** The bytes of the refused item; 0 if something else was refused, which the cache has recorded. */
    public long bytes() {
        return bytes;
    }
}
