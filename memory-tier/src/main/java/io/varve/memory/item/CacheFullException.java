package io.varve.memory.item;

/**
 * maxmemory is reached and the policy frees nothing more. Immutable; carries no stack trace, because it is thrown on
 * the request's way.
 */
public final class CacheFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** For who does not know how much was asked for: a slab, a segment, a table. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    public static final CacheFullException INSTANCE = new CacheFullException(0);

    private final long bytes;

    private CacheFullException(long bytes) {
        super("command not allowed when used memory > 'maxmemory'.", null, false, false);
        this.bytes = bytes;
    }

    /** An item of so many bytes found no room. */
    public static CacheFullException of(long bytes) {
        return new CacheFullException(bytes);
    }

    /** What an item needed that found no room; 0 if it was something else, which the cache has noted. */
    public long bytes() {
        return bytes;
    }
}
