package io.varve.server.clustering;

import org.jspecify.annotations.Nullable;

/** Hands the role of a primary to one of its replicas, because someone asks for it. Thread-safe. */
public interface ManualFailover {
    /** Receives the end of a request, on any thread. */
    @FunctionalInterface
    interface Outcome {
        /** @param failure why the roles are as before, or may be; null: the replica is the primary, and serves */
        void ended(@Nullable String failure);
    }

    /** At a replica: asks its primary to hand over to it. Returns at once. */
    void takeOver(Outcome outcome);

    /** At a primary: hands over to a replica. Returns at once. */
    void handOver(String replicaId, Outcome outcome);
}
