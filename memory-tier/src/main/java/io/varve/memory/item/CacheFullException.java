package io.varve.memory.item;

/**
 * maxmemory is reached and the policy frees nothing more. Immutable; carries no stack trace, because it is thrown on
 * the request's way.
 */
public final class CacheFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** For who does not know how much was asked for: a slab, a segment, a table. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    public static final CacheFullException INSTANCE = new CacheFullException(0, true);

    /** For what would be longer than any item, or any entry of a collection, can be. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    public static final CacheFullException TOO_LARGE = new CacheFullException(0, false);

    private final long bytes;
    private final boolean roomHelps;

    private CacheFullException(long bytes, boolean roomHelps) {
        super("command not allowed when used memory > 'maxmemory'.", null, false, false);
        this.bytes = bytes;
        this.roomHelps = roomHelps;
    }

    /** An item of so many bytes found no room. */
    public static CacheFullException of(long bytes) {
        return new CacheFullException(bytes, true);
    }

    /** For who needs more than what it was refused: so many bytes in all. What is too large stays that. */
    public CacheFullException inAll(long all) {
        return roomHelps ? of(all) : this;
    }

    /** Whether evicting something can help. */
    public boolean roomHelps() {
        return roomHelps;
    }

    /** What an item needed that found no room; 0 if it was something else, which the cache has noted. */
    public long bytes() {
        return bytes;
    }
}
