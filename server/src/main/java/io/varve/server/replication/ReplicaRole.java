package io.varve.server.replication;

import org.jspecify.annotations.Nullable;

/** Whether this server follows a primary, and how that goes. Thread-safe. */
public interface ReplicaRole extends AutoCloseable {
    /** The text of {@link #failoverState} if there is no failover. */
    String NO_FAILOVER = "no-failover";

    /** The role of a server that cannot follow. */
    ReplicaRole PRIMARY = new ReplicaRole() {
        @Override
        public void follow(String host, int port) {
            throw new IllegalStateException("this server cannot follow a primary");
        }

        @Override
        public void followMoved(String host, int port) {
            follow(host, port);
        }

        @Override
        public void followNone(Runnable onDone) {
            onDone.run();
        }

        @Override
        public @Nullable String failOver(@Nullable String host, int port, boolean force, long timeoutMillis) {
            return "FAILOVER requires connected replicas.";
        }

        @Override
        public boolean abortFailover() {
            return false;
        }

        @Override
        public String failoverState() {
            return NO_FAILOVER;
        }

        @Override
        public @Nullable Status status() {
            return null;
        }

        @Override
        public boolean isReplica() {
            return false;
        }

        @Override
        public boolean isUp() {
            return false;
        }

        @Override
        public boolean hasPrimarysData() {
            return false;
        }

        @Override
        public boolean isLoading() {
            return false;
        }

        @Override
        public void tick() {
            // There is nothing to do.
        }

        @Override
        public void close() {
            // There is nothing to end.
        }
    };

    /** The state of the connection to the primary. */
    enum State {
        CONNECT("connect"), CONNECTING("connecting"), SYNC("sync"), CONNECTED("connected");

        private final String text;

        State(String text) {
            this.text = text;
        }

        /** As ROLE shows it. */
        public String text() {
            return text;
        }
    }

    /**
     * A report.
     *
     * @param receivedMillis milliseconds since the primary last sent something
     * @param downMillis milliseconds since the connection has been down
     * @param snapshotBytes the length of the snapshot that is being received; 0 if it is not known
     * @param snapshotRead how much of it is here
     * @param refused commands of the primary that this server could not run
     * @param failure why the connection was lost last, or empty
     */
    record Status(String host, int port, State state, long receivedMillis, long downMillis, long snapshotBytes,
            long snapshotRead, long refused, String failure) {}

    /** Follows a primary from now on, in place of another one, if any. Writes of clients are refused at once. */
    void follow(String host, int port);

    /** The primary that this server follows has another address. */
    void followMoved(String host, int port);

    /**
     * Ends that. This server keeps its data, and accepts writes.
     *
     * @param onDone runs when it does, perhaps at once, on any thread
     */
    void followNone(Runnable onDone);

    /**
     * Hands this server's role to a replica, in the background: writes wait until the replica has all changes, and it
     * has become the primary.
     *
     * @param host of the replica; null: the one that is ahead of the others
     * @param force whether to go on after the timeout although the replica lacks changes
     * @param timeoutMillis how long to wait for the replica; 0: for ever
     * @return an error; null if it has begun
     */
    @Nullable
    String failOver(@Nullable String host, int port, boolean force, long timeoutMillis);

    /** Ends what {@link #failOver} has begun. @return false if there is nothing to end */
    boolean abortFailover();

    /** As INFO shows it. */
    String failoverState();

    /** Null if this server is a primary. */
    @Nullable
    Status status();

    boolean isReplica();

    /** Whether the data is the primary's: the connection is up. */
    boolean isUp();

    /**
     * Whether the data is a state of the primary that it follows: they have been connected since {@link #follow}, and
     * no snapshot is being loaded. While one is received of the same history, it is an older state: without the primary
     * it is the best that there is.
     */
    boolean hasPrimarysData();

    /** Whether a snapshot of a primary, which has been received as a whole, is being loaded. */
    boolean isLoading();

    /** Called by the maintenance thread, several times a second. */
    void tick();

    @Override
    void close();
}
