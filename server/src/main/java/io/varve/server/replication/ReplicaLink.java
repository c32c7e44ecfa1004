package io.varve.server.replication;

/** The operations that a replica needs of its connection. Thread-safe; no method waits. */
public interface ReplicaLink {
    /** Has the event loop read the {@link Feed}. */
    void onFeed();

    /** Closes the connection. */
    void kill();
}
