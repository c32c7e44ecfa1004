package io.varve.server.command.session;

import io.varve.server.replication.Feed;
import io.varve.server.replication.ReplicaLink;

/** The operations that a client needs of its connection. Thread-safe; package {@code net} implements it. */
public interface Connection extends ReplicaLink {
    /** Closes at once; unwritten bytes are dropped. */
    @Override
    void kill();

    /** From now on it sends what the feed has, in place of replies. Called by its event loop. */
    default void feed(Feed source) {
        throw new IllegalStateException("no client is behind this connection");
    }

    @Override
    default void onFeed() {}

    /** Schedules a write of the client's pending messages on its event loop. Returns at once. */
    void onMessages();

    /** Bytes that wait to be written. */
    long outgoingBytes();

    /** Bytes received and not yet executed. */
    long incomingBytes();

    /** Capacity of the receive buffers, bytes. */
    long incomingCapacityBytes();

    /** The file descriptor, or -1 if the transport has none. */
    int fileDescriptor();

    /** Whether there is no client behind it: the server runs the commands of its log again. */
    default boolean isReplay() {
        return false;
    }

    /** Whether its client connected through a Unix socket. */
    default boolean isUnixSocket() {
        return false;
    }
}
