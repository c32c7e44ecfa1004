package io.varve.server.replication;

/** The bytes that a connection sends in place of replies. Thread-safe; the connection's event loop reads. */
public interface Feed {
    /** The result of {@link #read} if the connection has to be closed after what was read before. */
    int END = -1;

    /** The event loop reads from now on: bytes that come later are announced again. */
    void begin();

    /**
     * Copies the next bytes.
     *
     * @return how many; 0 if there are none now; {@link #END}
     */
    int read(long address, int capacity);

    /** The connection has ended. */
    void disconnected();
}
