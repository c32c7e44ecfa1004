package io.varve.cluster.protocol;

/** A request that does not pass the Raft log. Immutable. */
public sealed interface Query {
    /**
     * A member is alive.
     *
     * @param generation of the process, from its registration
     * @param epoch of the newest map that it has
     * @param offset replication offset, {@link #NO_DATA} or {@link #LOADING}
     * @param fresh whether this process has not held a lease so far
     * @param term from the last reply; 0: none
     * @param stamp from the last reply
     */
    record Heartbeat(String id, long generation, long epoch, long offset, boolean fresh, long term, long stamp)
            implements
                Query {
        /** The offset of a member that has no complete data set, and is not about to have one. */
        public static final long NO_DATA = -1;
        /** The offset of a member that is receiving or loading a data set. */
        public static final long LOADING = -2;
    }

    /** Asks the leader for members, slots and leases. */
    record View() implements Query {}

    /** Asks one controller for its term. It replies whether it leads or not. */
    record Term() implements Query {}
}
