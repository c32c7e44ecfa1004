package io.varve.server.testing;

import io.varve.server.command.session.Connection;

/** A connection without a socket: messages stay pending, and buffers are empty. Immutable. */
public final class StubConnection implements Connection {
    private final Runnable onKill;

    /** A connection that must not be killed. */
    public StubConnection() {
        this(() -> {
            throw new UnsupportedOperationException("There is nothing to kill");
        });
    }

    /** @param onKill runs at each {@link #kill} */
    public StubConnection(Runnable onKill) {
        this.onKill = onKill;
    }

    @Override
    public void kill() {
        onKill.run();
    }

    @Override
    public void onMessages() {
        // Messages are written before the next command.
    }

    @Override
    public long outgoingBytes() {
        return 0;
    }

    @Override
    public long incomingBytes() {
        return 0;
    }

    @Override
    public long incomingCapacityBytes() {
        return 0;
    }

    @Override
    public int fileDescriptor() {
        return -1;
    }
}
