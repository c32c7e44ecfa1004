package io.varve.ycsb;

/**
 * When the remote database's simulated delay is raised, as the stress test of the penalty paper's section 6.3.1 does it; at
 * most one of the two is set. Immutable.
 *
 * @param afterOperations of all clients of the process, or {@link #NEVER}
 * @param afterSeconds    since the first operation, or {@link #NEVER}
 * @param factor          by which
 */
record StressOptions(long afterOperations, long afterSeconds, int factor) {

    static final long NEVER = -1;
    /** Calls of the binding: a read-modify-write is two. Default: never. */
    static final String AFTER_OPERATIONS = "varve.stress.after-operations";
    /** Default: never. */
    static final String AFTER_SECONDS = "varve.stress.after-seconds";
    /** Default 2. */
    static final String FACTOR = "varve.stress.factor";

    private static final int MAX_FACTOR = 1000;
    private static final long MAX_OPERATIONS = 1_000_000_000_000L;
    private static final long MAX_SECONDS = 1_000_000_000;

    /** @throws IllegalArgumentException with a line that names the property, its value and what is allowed */
    static StressOptions read(PropertyReader reader) {
        long operations = reader.text(AFTER_OPERATIONS, "").isEmpty()
                ? NEVER
                : reader.number(AFTER_OPERATIONS, 0, 0, MAX_OPERATIONS);
        long seconds = reader.text(AFTER_SECONDS, "").isEmpty()
                ? NEVER
                : reader.number(AFTER_SECONDS, 0, 0, MAX_SECONDS);
        if (operations != NEVER && seconds != NEVER) {
            throw new IllegalArgumentException(AFTER_SECONDS + "=" + seconds + ": allowed is one of " + AFTER_SECONDS
                    + " and " + AFTER_OPERATIONS + ", and the other is " + operations);
        }
        return new StressOptions(operations, seconds, (int) reader.number(FACTOR, 2, 1, MAX_FACTOR));
    }

    boolean never() {
        return afterOperations == NEVER && afterSeconds == NEVER;
    }
}
