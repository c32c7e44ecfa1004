package io.varve.ycsb.option;

/**
 * The start of the stress test of the penalty paper's section 6.3.1, which raises the remote database's simulated
 * delay. Immutable. At most one of the two conditions is set.
 *
 * @param afterOperations number of operations of all clients of the process, or {@link #NEVER}
 * @param afterSeconds seconds since the first operation, or {@link #NEVER}
 * @param factor the factor of the delay
 */
public record StressOptions(long afterOperations, long afterSeconds, int factor) {

    public static final long NEVER = -1;
    /** Number of calls of the binding: a read-modify-write is two. Default: never. */
    static final String AFTER_OPERATIONS = "varve.stress.after-operations";
    /** Default: never. */
    static final String AFTER_SECONDS = "varve.stress.after-seconds";
    /** Default 2. */
    static final String FACTOR = "varve.stress.factor";

    private static final int MAX_FACTOR = 1000;
    private static final long MAX_OPERATIONS = 1_000_000_000_000L;
    private static final long MAX_SECONDS = 1_000_000_000;

    /** @throws IllegalArgumentException with a line that names the property, its value and the allowed values */
    static StressOptions read(PropertyReader reader) {
        long operations = reader.text(AFTER_OPERATIONS, "").isEmpty()
                ? NEVER
                : reader.number(AFTER_OPERATIONS, 0, 0, MAX_OPERATIONS);
        long seconds = reader.text(AFTER_SECONDS, "").isEmpty()
                ? NEVER
                : reader.number(AFTER_SECONDS, 0, 0, MAX_SECONDS);
        if (operations != NEVER && seconds != NEVER) {
            throw new IllegalArgumentException(AFTER_SECONDS + "=" + seconds + ": expected one of " + AFTER_SECONDS
                    + " and " + AFTER_OPERATIONS + "; the latter is " + operations);
        }
        return new StressOptions(operations, seconds, (int) reader.number(FACTOR, 2, 1, MAX_FACTOR));
    }

    public boolean never() {
        return afterOperations == NEVER && afterSeconds == NEVER;
    }
}
