package io.varve.cluster.client;

/** The controllers have refused a change, and the cluster is as before. Immutable. */
public final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(String reason) {
        super(reason);
    }
}
