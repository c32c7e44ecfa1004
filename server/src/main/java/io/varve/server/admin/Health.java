package io.varve.server.admin;

/**
 * Whether clients should be sent to this server. Guarded by itself: told by whoever starts and ends the server, asked by any
 * thread.
 *
 * <pre>
 *   STARTING --listening--> LOADING --loaded--> READY
 *       \______________________\__________________\____stopping--> STOPPING, for good
 * </pre>
 *
 * <p>What is told in another order is remembered: a server may have loaded before it listens.
 */
public final class Health {
    /** Where the server is in its life. */
    public enum State {
        /** It does not listen yet. */
        STARTING,
        /** It listens, and answers from what it knows so far: it still looks what there is on flash. */
        LOADING,
        /** Everything is there. */
        READY,
        /** It was asked to end. */
        STOPPING
    }

    private boolean listens;
    private boolean loaded;
    private boolean stops;

    /** It listens now. */
    public synchronized void listening() {
        listens = true;
    }

    /** What an earlier life has left is known now. */
    public synchronized void loaded() {
        loaded = true;
    }

    /** It is about to end. */
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
