package io.varve.server.command;

/** What a client can ask of its connection. Implemented by the network room; any thread may call. */
public interface Connection {
    /** Closes at once; what was not written is dropped. */
    void kill();

    /** Messages wait for its client: its event loop is to write them as soon as it can. Returns at once. */
    void mailCame();

    /** Bytes that wait to be written. */
    long outgoingBytes();

    /** Bytes received and not yet executed. */
    long incomingBytes();

    /** Bytes of the buffers held for what was received. */
    long incomingCapacityBytes();

    /** The file descriptor, or -1 where the transport has none to tell. */
    int fileDescriptor();

    /** Whether its client came through a socket in the file system. */
    default boolean isUnixSocket() {
        return false;
    }
}
