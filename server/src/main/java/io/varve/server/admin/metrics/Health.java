package io.varve.server.admin.metrics;

/**
 * The server's readiness: whether clients should be sent to it. Guarded by {@code this}: the thread that starts and
 * ends the server sets it, any thread reads it.
 *
 * <pre>
 *   STARTING --listening--> LOADING --loaded--> READY
 *       \______________________\__________________\____stopping--> STOPPING, for good
 * </pre>
 *
 * <p>Events may arrive in another order and are remembered: a server may have loaded before it listens.
 */
public final class Health {
    /** The state of the server's life cycle. */
    public enum State {
        /** It does not listen yet. */
        STARTING,
        /** It listens, but its data, or the list of its keys on flash, is not complete. */
        LOADING,
        /** All data is loaded. */
        READY,
        /** A shutdown was requested. */
        STOPPING
    }

    private boolean listens;
    private boolean loaded;
    private boolean stops;

    /** The server listens. */
    public synchronized void listening() {
        listens = true;
    }

    /** The data of an earlier run is loaded. */
    public synchronized void loaded() {
        loaded = true;
    }

    /** The server is about to stop. */
    public synchronized void stopping() {
        stops = true;
    }

    public synchronized State state() {
        if (stops) {
            return State.STOPPING;
        }
        if (!listens) {
            return State.STARTING;
        }
        return loaded ? State.READY : State.LOADING;
    }
}
