package io.varve.server.following;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Ticker;
import io.varve.server.persistence.ChangeStream;
import io.varve.server.replication.Replica;
import io.varve.server.replication.ReplicaRole;
import io.varve.server.replication.Replicas;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the role of the primary to a replica, as Redis's FAILOVER does. Thread-safe: guarded by its own monitor; one
 * failover runs at a time, on a thread of its own.
 *
 * <pre>
 *          begin               the replica has all changes              it is the primary, or refuses
 *  NONE ----------> WAITING ------------------------------> HANDING ----------------------------------> NONE
 *                      |                                       |
 *                      +------ABORT, timeout, it is gone-------+--------------------------------------> NONE
 * </pre>
 */
final class Failover {
    private static final Logger LOG = LoggerFactory.getLogger(Failover.class);
    private static final long CHECK_MILLIS = 100;

    /** Makes this server a replica of the one that it hands its role to. */
    interface Handing {
        /**
         * Asks a replica to become the primary, and follows it.
         *
         * @param onEnd runs when the replica has agreed, or not; any thread
         */
        void handTo(String host, int port, Runnable onEnd);

        /** Gives up what {@link #handTo} has begun, unless the replica has agreed. */
        void cancel();
    }

    private enum State {
        NONE(ReplicaRole.NO_FAILOVER), WAITING("waiting-for-sync"), HANDING("failover-in-progress");

        private final String text;

        State(String text) {
            this.text = text;
        }
    }

    private final Replicas replicas;
    private final ChangeStream changes;
    private final Ticker ticker;
    private final Handing handing;
    private final Runnable olderCommands;
    private State state = State.NONE;
    private boolean aborted;

    /** @param olderCommands waits until no write runs that has begun before */
    Failover(Replicas replicas, ChangeStream changes, Ticker ticker, Handing handing, Runnable olderCommands) {
        this.olderCommands = olderCommands;
        this.replicas = replicas;
        this.changes = changes;
        this.ticker = ticker;
        this.handing = handing;
    }

    synchronized String text() {
        return state.text;
    }

    /** See {@link ReplicaRole#failOver}. */
    synchronized @Nullable String begin(@Nullable String host, int port, boolean force, long timeoutMillis) {
        if (state != State.NONE) {
            return "FAILOVER already in progress.";
        }
        List<Replica> all = replicas.all().stream().filter(replica -> !replica.hasEnded()).toList();
        if (all.isEmpty()) {
            return "FAILOVER requires connected replicas.";
        }
        if (force && (host == null || timeoutMillis == 0)) {
            return "FAILOVER with force option requires both a timeout and target HOST and IP.";
        }
        Replica target = null;
        if (host != null) {
            target = all.stream().filter(replica -> replica.port() == port && replica.host().equalsIgnoreCase(host))
                    .findFirst().orElse(null);
            if (target == null) {
                return "FAILOVER target HOST and PORT is not a replica.";
            }
            if (target.state() != Replica.State.ONLINE) {
                return "FAILOVER target replica is not online.";
            }
        }
        state = State.WAITING;
        aborted = false;
        Replica wanted = target;
        Thread.ofPlatform().name("varve-failover").daemon().start(() -> run(wanted, force, timeoutMillis));
        return null;
    }

    /** @return false if there is nothing to end */
    boolean abort() {
        synchronized (this) {
            if (state == State.NONE) {
                return false;
            }
            aborted = true;
            if (state == State.WAITING) {
                return true;
            }
        }
        handing.cancel();
        return true;
    }

    private synchronized boolean isAborted() {
        return aborted;
    }

    private synchronized void state(State next) {
        state = next;
    }

    private void run(@Nullable Replica wanted, boolean force, long timeoutMillis) {
        changes.pauseWrites();
        try {
            Replica ready = awaitChanges(wanted, force, timeoutMillis);
            if (ready == null) {
                return;
            }
            state(State.HANDING);
            CountDownLatch handed = new CountDownLatch(1);
            handing.handTo(ready.host(), ready.port(), handed::countDown);
            handed.await();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } finally {
            state(State.NONE);
            changes.resumeWrites();
        }
    }

    /** Waits until a replica has all changes. @return null if the failover is over */
    private @Nullable Replica awaitChanges(@Nullable Replica wanted, boolean force, long timeoutMillis)
            throws InterruptedException {
        long start = ticker.nanoTime();
        olderCommands.run();
        replicas.askHowFar();
        while (true) {
            long offset = changes.offset();
            Replica ahead = wanted == null ? ahead() : wanted;
            if (ahead != null && ahead.acknowledged() >= offset && changes.offset() == offset) {
                return ahead;
            }
            boolean isLate = timeoutMillis > 0
                    && TimeUnit.NANOSECONDS.toMillis(ticker.nanoTime() - start) >= timeoutMillis;
            if (isLate && force) {
                return wanted;
            }
            if (isLate || isAborted() || wanted != null && wanted.hasEnded()) {
                LOG.warn("The failover has ended: {}", isLate
                        ? "the replica has not received all changes in time"
                        : isAborted() ? "it was aborted" : "the replica has disconnected");
                return null;
            }
            awaitAcknowledgement(wanted, offset);
        }
    }

    private @Nullable Replica ahead() {
        return replicas.all().stream().filter(replica -> replica.state() == Replica.State.ONLINE && !replica.hasEnded())
                .max(Comparator.comparingLong(Replica::acknowledged)).orElse(null);
    }

    private void awaitAcknowledgement(@Nullable Replica wanted, long offset) throws InterruptedException {
        CountDownLatch acknowledged = new CountDownLatch(1);
        Runnable action = acknowledged::countDown;
        replicas.whenAcknowledged(() -> {
            Replica ahead = wanted == null ? ahead() : wanted;
            return ahead != null && ahead.acknowledged() >= offset;
        }, action);
        try {
            boolean isThere = acknowledged.await(CHECK_MILLIS, TimeUnit.MILLISECONDS);
            LOG.debug("A replica has all changes: {}", isThere);
        } finally {
            replicas.cancel(action);
        }
    }
}
