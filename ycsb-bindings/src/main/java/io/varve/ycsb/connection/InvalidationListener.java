package io.varve.ycsb.connection;

/**
 * Receives the invalidations of a connection with CLIENT TRACKING. The connection's event loop calls it: with {@link
 * OwnEventLoop} the thread of the connection, with other transports a thread of Lettuce.
 */
public interface InvalidationListener {

    /** A key that this connection has read has changed. */
    void invalidated(byte[] key);

    /** All keys have changed, as after FLUSHALL. */
    void allInvalidated();

    /** The connection is lost, so changes are not reported. It is called before the next connection is used. */
    void disconnected();
}
