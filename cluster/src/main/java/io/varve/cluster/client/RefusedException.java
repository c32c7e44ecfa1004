package io.varve.cluster.client;

/** The controllers have refused a change, and the cluster is as before. Immutable. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    private final long epoch;

    /** @param epoch of the map when a command had no effect; 0: it did not reach the log */
    public RefusedException(String reason, long epoch) {
        super(reason);
        this.epoch = epoch;
    }

    /** The epoch of the map that did not allow the command; 0: it is not known. */
    public long epoch() {
        return epoch;
    }
}
