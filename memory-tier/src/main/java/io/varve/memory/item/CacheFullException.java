package io.varve.memory.item;

/**
 * maxmemory is reached and the policy frees nothing more. Immutable; carries no stack trace, because it is thrown on
 * the request's way.
 */
public final class CacheFullException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The only one: without a stack trace there is nothing to tell two of them apart. */
    @SuppressWarnings("StaticAssignmentOfThrowable")
    public static final CacheFullException INSTANCE = new CacheFullException();

    private CacheFullException() {
        super("command not allowed when used memory > 'maxmemory'.", null, false, false);
    }
}
