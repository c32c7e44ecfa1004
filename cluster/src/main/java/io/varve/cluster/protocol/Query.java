package io.varve.cluster.protocol;

/** A request that does not pass the Raft log. Immutable. */
public sealed interface Query {
    /**
     * A member is alive.
     *
     * @param generation of the process, from its registration
     * @param epoch of the newest map that it has
     * @param offset replication offset; -1: it has no complete data set
     * @param fresh whether this process has not held a lease so far
     * @param term from the last reply; 0: none
     * @param stamp from the last reply
     */
    record Heartbeat(String id, long generation, long epoch, long offset, boolean fresh, long term, long stamp)
            implements
                Query {}

    /** Asks the leader for members, slots and leases. */
    record View() implements Query {}

    /** Asks one controller for its term. It replies whether it leads or not. */
    record Term() implements Query {}
}
