package io.varve.server.membership;

import java.io.IOException;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

import io.varve.cluster.client.ControllersUnavailableException;
import io.varve.cluster.client.RefusedException;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.cluster.protocol.ClusterView.Liveness;
import io.varve.cluster.protocol.Command;
import io.varve.server.clustering.ClusterListener;
import io.varve.server.clustering.ClusterState;
import io.varve.server.clustering.ClusterView;
import io.varve.server.clustering.ManualFailover;
import io.varve.server.command.ServerState;
import io.varve.server.following.MemberConnection;
import io.varve.server.replication.Replica;
import io.varve.server.replication.Replicas;
import io.varve.server.system.FailureReason;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands the role of this primary to a replica that has all changes, or asks the primary of this replica to do so.
 * Thread-safe: guarded by its own monitor; one request runs at a time, on a thread of its own.
 *
 * <p>The primary holds all commands on its slots, waits for the replica's acknowledgement, and asks the controllers to
 * change the map. It serves nothing before their answer is known and its effect installed, however long that takes.
 * Decision 55 has the reasons.
 */
final class RoleHandover implements ManualFailover, ClusterListener, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RoleHandover.class);
    private static final long CHECK_MILLIS = 100;
    private static final long RETRY_MILLIS = 50;
    /** How long commands are held at most until the replica serves: clients would be sent back and forth. */
    private static final int SERVING_MILLIS = 5_000;
    private static final long POLL_MILLIS = 2;
    /** A replica waits that much longer for its primary's reply than its primary waits for the changes. */
    private static final int REPLY_MILLIS = 5_000;

    /** A condition of the handover is not met. */
    private static final class UnsuitableException extends Exception {
        private static final long serialVersionUID = 1;

        private final boolean isLasting;

        UnsuitableException(String reason) {
            this(reason, false);
        }

        /** @param isLasting whether a further attempt is of no use */
        UnsuitableException(String reason, boolean isLasting) {
            super(reason);
            this.isLasting = isLasting;
        }
    }

    /** The work of a request. It runs on the thread of the handover. */
    @FunctionalInterface
    private interface Task {
        void run() throws UnsuitableException, InterruptedException;
    }

    private final ServerState server;
    private final ClusterState cluster;
    private final Replicas replicas;
    private final HandoverControllers controllers;
    private final BooleanSupplier isRemoved;
    private final int replyMillis;
    private @Nullable Thread thread;
    /** The connection on which the thread waits for a reply. */
    private @Nullable MemberConnection connection;
    private boolean isClosing;
    /** The replica that the controllers may have promoted; empty: none. */
    private volatile String successor = "";

    /** @param isRemoved whether the session has ended, so that no further map comes */
    RoleHandover(ServerState server, ClusterState cluster, HandoverControllers controllers,
            BooleanSupplier isRemoved) {
        this(server, cluster, controllers, isRemoved, SERVING_MILLIS);
    }

    /**
     * @param isRemoved whether the session has ended, so that no further map comes
     * @param replyMillis limit for connecting to the new primary, and for each of its replies
     */
    RoleHandover(ServerState server, ClusterState cluster, HandoverControllers controllers, BooleanSupplier isRemoved,
            int replyMillis) {
        this.replyMillis = replyMillis;
        this.server = server;
        this.cluster = cluster;
        this.controllers = controllers;
        this.isRemoved = isRemoved;
        replicas = server.replicas();
    }

    // --- requests

    @Override
    public void takeOver(Outcome outcome) {
        begin(outcome, this::askPrimary);
    }

    @Override
    public void handOver(String replicaId, Outcome outcome) {
        begin(outcome, () -> handOver(replicaId, millis("cluster-manual-failover-timeout")));
    }

    /** Hands over to the replica that is ahead of the others, if there is one, before this server stops. */
    void handOverBeforeStop() {
        long timeoutMillis = TimeUnit.SECONDS.toMillis(millis("shutdown-timeout"));
        if (timeoutMillis == 0 || !cluster.view().me().isPrimary() || successors().isEmpty()) {
            return;
        }
        long end = server.ticker().nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        try {
            awaitRunning(end);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return;
        }
        if (!cluster.view().me().isPrimary()) {
            return;
        }
        CountDownLatch ended = new CountDownLatch(1);
        begin(failure -> {
            if (failure != null) {
                LOG.warn("This primary stops without a handover: {}", failure);
            }
            ended.countDown();
        }, () -> handOverToAny(end));
        try {
            if (!ended.await(leftMillis(end), TimeUnit.MILLISECONDS)) {
                LOG.warn("This primary stops: its handover has not ended within {} ms", timeoutMillis);
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the end of a handover that somebody has asked for. */
    private synchronized void awaitRunning(long end) throws InterruptedException {
        while (thread != null && leftMillis(end) > 0) {
            wait(CHECK_MILLIS);
        }
    }

    /** Whether a map that makes this member a replica of another one loses nothing: that one has all changes. */
    boolean isSuccessor(String memberId) {
        return successor.equals(memberId);
    }

    private long millis(String setting) {
        return server.config().number(setting);
    }

    private void begin(Outcome outcome, Task task) {
        synchronized (this) {
            if (thread == null && !isClosing) {
                thread = Thread.ofPlatform().daemon().name("varve-handover").start(() -> run(outcome, task));
                return;
            }
        }
        outcome.ended("another failover is in progress");
    }

    private void run(Outcome outcome, Task task) {
        String failure = null;
        try {
            task.run();
        } catch (UnsuitableException unsuitable) {
            failure = String.valueOf(unsuitable.getMessage());
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            failure = "this server is closing";
        } catch (RuntimeException | Error bug) {
            LOG.error("A handover has failed", bug);
            failure = "internal error: " + bug;
        } finally {
            synchronized (this) {
                thread = null;
                notifyAll();
            }
        }
        if (failure != null) {
            LOG.info("There was no handover: {}", failure);
        }
        outcome.ended(failure);
    }

    // --- at the replica

    private void askPrimary() throws UnsuitableException {
        Member primary = cluster.view().primary();
        if (primary == null) {
            throw new UnsuitableException("this member is a primary");
        }
        String answer;
        int timeoutMillis = (int) Math.min(Integer.MAX_VALUE,
                millis("cluster-manual-failover-timeout") + REPLY_MILLIS);
        try (MemberConnection opened = MemberConnection.open(server.config(), primary, timeoutMillis)) {
            connected(opened);
            answer = opened.ask("REPLCONF", "VARVE-FAILOVER", cluster.view().me().id());
        } catch (IOException failed) {
            throw new UnsuitableException("the primary " + primary.address() + " has not answered ("
                    + FailureReason.of(failed) + "): if it is gone, the controllers fail over by themselves");
        }
        if (!answer.startsWith("+")) {
            throw new UnsuitableException("the primary " + primary.address() + " refuses: "
                    + answer.replaceFirst("^-(ERR )?", ""));
        }
    }

    // --- at the primary

    /** The replicas that could take over, by the map and by their connections, the most advanced first. */
    private List<Replica> successors() {
        ClusterView view = cluster.view();
        return replicas.all().stream().filter(replica -> isOnline(replica) && isReplicaOfThis(view, replica.memberId()))
                .sorted(Comparator.comparingLong(Replica::acknowledged).reversed()).toList();
    }

    private static boolean isOnline(Replica replica) {
        return replica.state() == Replica.State.ONLINE && !replica.hasEnded();
    }

    private static boolean isReplicaOfThis(ClusterView view, String memberId) {
        Member member = view.map().member(memberId);
        return member != null && view.me().id().equals(member.primaryId());
    }

    /** Tries again as long as a replica is online: the cluster may have changed, such as by a registration. */
    private void handOverToAny(long end) throws UnsuitableException, InterruptedException {
        while (true) {
            List<Replica> candidates = successors();
            if (candidates.isEmpty()) {
                throw new UnsuitableException("no replica is online", true);
            }
            try {
                handOver(candidates.getFirst().memberId(), leftMillis(end));
                return;
            } catch (UnsuitableException unsuitable) {
                if (!cluster.view().me().isPrimary()) {
                    // The controllers have failed over.
                    return;
                }
                if (unsuitable.isLasting || leftMillis(end) == 0) {
                    throw unsuitable;
                }
            }
            TimeUnit.MILLISECONDS.sleep(CHECK_MILLIS);
        }
    }

    private long leftMillis(long end) {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(end - server.ticker().nanoTime()));
    }

    private void handOver(String replicaId, long timeoutMillis) throws UnsuitableException, InterruptedException {
        long end = server.ticker().nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
        ClusterView view = cluster.view();
        require(isReplicaOfThis(view, replicaId), "member " + replicaId + " is no replica of this member");
        requireLastingly(view.isLeased(), "this member has no lease");
        require(!view.map().isMigrating(view.me()),
                "slots of this member are migrating: wait for the end, or abort the migrations");
        askControllers(replicaId);
        // Most of the changes are there before the commands are held.
        awaitChanges(replicaId, end);
        BitSet slots = new BitSet();
        for (SlotRange range : view.map().slots(view.me())) {
            slots.set(range.first(), range.last() + 1);
        }
        long begun = server.ticker().nanoTime();
        replicas.refuseNew(true);
        cluster.holds().hold(slots);
        try {
            cluster.awaitOlderCommands();
            Replica link = awaitChanges(replicaId, end);
            change(new Command.HandOver(view.me().id(), controllers.generation(), replicaId, link.generation(),
                    view.map().epoch()));
        } finally {
            successor = "";
            replicas.refuseNew(false);
            cluster.holds().release(slots);
            LOG.info("Commands were held for {} ms",
                    TimeUnit.NANOSECONDS.toMillis(server.ticker().nanoTime() - begun));
        }
    }

    private static void require(boolean condition, String otherwise) throws UnsuitableException {
        if (!condition) {
            throw new UnsuitableException(otherwise);
        }
    }

    /** For a condition that a further attempt will not find met either. */
    private static void requireLastingly(boolean condition, String otherwise) throws UnsuitableException {
        if (!condition) {
            throw new UnsuitableException(otherwise, true);
        }
    }

    /** Whether the controllers reply, and hear the replica: before commands are held for their answer. */
    private void askControllers(String replicaId) throws UnsuitableException {
        try {
            Liveness replica = controllers.liveness(replicaId);
            require(replica != null && replica.alive(), "the controllers do not hear the replica");
            require(replica != null && replica.offset() >= 0, "the replica has no complete data set");
        } catch (ControllersUnavailableException unavailable) {
            throw new UnsuitableException(String.valueOf(unavailable.getMessage()), true);
        }
    }

    /** Waits until a replica has all changes so far. */
    private Replica awaitChanges(String replicaId, long end) throws UnsuitableException, InterruptedException {
        Replica link = link(replicaId);
        long offset = server.changes().offset();
        CountDownLatch acknowledged = new CountDownLatch(1);
        Runnable action = acknowledged::countDown;
        replicas.whenAcknowledged(() -> link.acknowledged() >= offset, action);
        try {
            while (!acknowledged.await(Math.min(CHECK_MILLIS, leftMillis(end)), TimeUnit.MILLISECONDS)) {
                require(isOnline(link), "the replica has disconnected");
                require(leftMillis(end) > 0, "the replica has not received all changes in time");
            }
        } finally {
            replicas.cancel(action);
        }
        require(link(replicaId) == link, "the replica has connected again");
        return link;
    }

    private Replica link(String replicaId) throws UnsuitableException {
        List<Replica> links = replicas.all().stream()
                .filter(replica -> replica.memberId().equals(replicaId) && !replica.hasEnded()).toList();
        require(links.size() == 1 && isOnline(links.getFirst()), "the replica is not online");
        requireLastingly(links.getFirst().generation() > 0, "the replica has not told its generation");
        return links.getFirst();
    }

    /** Returns when the answer is known, and this member has a map that contains its effect. */
    private void change(Command.HandOver command) throws UnsuitableException, InterruptedException {
        successor = command.replicaId();
        boolean isUnknown = false;
        while (true) {
            try {
                long epoch = controllers.handOver(command);
                // They ask for the map at once.
                replicas.all().forEach(Replica::end);
                controllers.hurry();
                awaitMap(epoch);
                awaitServing(command.replicaId());
                return;
            } catch (RefusedException refused) {
                // Epoch 0: a controller does not know the command. An earlier one may still take effect.
                if (!isUnknown || refused.epoch() > 0) {
                    controllers.hurry();
                    awaitMap(refused.epoch());
                    throw new UnsuitableException("the controllers refuse: " + refused.getMessage());
                }
                LOG.warn("The answer of the controllers is awaited, and commands are held: {}",
                        refused.getMessage());
            } catch (ControllersUnavailableException unavailable) {
                LOG.warn("The answer of the controllers is awaited, and commands are held: {}",
                        unavailable.getMessage());
            } catch (RuntimeException | Error bug) {
                // The command may take effect all the same: to serve now could lose writes.
                LOG.error("The answer of the controllers is awaited, and commands are held", bug);
            }
            isUnknown = true;
            TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
        }
    }

    private synchronized void awaitMap(long epoch) throws InterruptedException {
        while (cluster.view().map().epoch() < epoch && !(isRemoved.getAsBoolean() && !cluster.view().isLeased())) {
            wait(CHECK_MILLIS);
        }
    }

    @Override
    public synchronized void changed(ClusterView before, ClusterView now) {
        notifyAll();
    }

    /** Waits for a short time until the replica serves as the primary. */
    private void awaitServing(String replicaId) throws InterruptedException {
        SlotMap map = cluster.view().map();
        Member replica = map.member(replicaId);
        if (replica == null) {
            return;
        }
        long end = server.ticker().nanoTime() + TimeUnit.MILLISECONDS.toNanos(SERVING_MILLIS);
        try (MemberConnection opened = MemberConnection.open(server.config(), replica, replyMillis)) {
            connected(opened);
            // A replica and a member without a lease refuse it.
            while (isNotServing(opened.ask("WAIT", "0", "0")) && leftMillis(end) > 0) {
                TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            }
        } catch (IOException failed) {
            LOG.warn("The new primary {} cannot be asked whether it serves: {}", replica.address(),
                    FailureReason.of(failed));
        }
    }

    /** From now on {@link #close} ends the waits for replies. */
    private synchronized void connected(MemberConnection opened) {
        connection = opened;
        if (isClosing) {
            opened.close();
        }
    }

    private static boolean isNotServing(String answer) {
        return answer.startsWith("-ERR") || answer.startsWith("-CLUSTERDOWN");
    }

    /** Ends a request whose answer is not known. This member has no lease any more. */
    @Override
    public void close() {
        Thread running;
        synchronized (this) {
            isClosing = true;
            running = thread;
            if (connection != null) {
                connection.close();
            }
        }
        if (running == null) {
            return;
        }
        running.interrupt();
        try {
            running.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
