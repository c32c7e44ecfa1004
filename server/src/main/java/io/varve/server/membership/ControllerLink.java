package io.varve.server.membership;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.varve.cluster.client.MemberSession;
import io.varve.cluster.client.MemberState;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.protocol.Query;
import io.varve.server.clustering.ClusterState;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.Client;
import io.varve.server.config.ConfigException;
import io.varve.server.replication.ReplicaRole;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes this server what the controllers say: a primary with slots and a lease, or a replica. Thread-safe: guarded by
 * its own monitor.
 *
 * <p>The session's thread receives maps and leases, and must not wait, because no heartbeat leaves meanwhile. A thread
 * of this class applies them: it ends or begins to follow, waits until older commands have ended, and then extends the
 * lease. A lease that came with a newer map does not count before that map is installed.
 */
public final class ControllerLink implements MemberState, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ControllerLink.class);

    private final ServerState server;
    private final ClusterState cluster;
    private final String id;
    private final Thread thread = Thread.ofPlatform().daemon().name("varve-membership").unstarted(this::run);
    private final MemberSession session;
    private final RoleHandover handover;
    private final ExecutorService files = Executors
            .newSingleThreadExecutor(Thread.ofPlatform().daemon().name("varve-nodes-file").factory());
    /** Whether a view waits to be saved. */
    private final AtomicBoolean isSaving = new AtomicBoolean();
    /** The newest map that is not installed yet; null: there is none. */
    private @Nullable SlotMap waiting;
    private SlotMap newest = SlotMap.EMPTY;
    /** The end of the lease for the newest map. */
    private long leaseUntilNanos = System.nanoTime();
    private boolean isLeaseNew;
    /** Whether the session has granted or ended a lease: before that, there is nothing to end. */
    private boolean hasLeaseNews;
    private boolean isClosing;
    private volatile boolean isRemoved;
    /** The ID of the primary that this server follows; empty: none. Only the thread of this class writes it. */
    private volatile String followed = "";
    /** Whether the newest map is installed, so that the lease that came with it counts. */
    private boolean isInForce;

    private ControllerLink(ServerState server, ClusterState cluster) {
        this.server = server;
        this.cluster = cluster;
        List<ControllerAddress> controllers = ControllerAddress.parseList(
                server.config().text("cluster-controllers"));
        Member self = cluster.registration(() -> addressTowards(controllers.getFirst()));
        id = self.id();
        server.replicas().named(this::isReplicaOfThis);
        session = MemberSession.start(controllers, self, this);
        handover = new RoleHandover(server, cluster, HandoverControllers.of(session), () -> isRemoved);
        cluster.listener(handover);
        thread.start();
        cluster.generation(session::generation);
        cluster.handover(new MigrationEnd(session, id));
        cluster.manualFailover(handover);
        cluster.onPrimaryLost(session::hurry);
        LOG.info("This server is {} for the controllers {}", self.address(),
                server.config().text("cluster-controllers"));
    }

    /**
     * Connects the server, which has loaded its data.
     *
     * @return null if the server has no controllers
     * @throws ConfigException if its own address cannot be derived
     */
    public static @Nullable ControllerLink start(ServerState server) {
        ClusterState cluster = server.cluster();
        if (cluster == null || !cluster.isControlled()) {
            return null;
        }
        requireOwnData(server, cluster);
        return new ControllerLink(server, cluster);
    }

    /** A member deletes keys of slots that others own: not those of a server that was never one. */
    private static void requireOwnData(ServerState server, ClusterState cluster) {
        long keys = server.cache().size(0);
        if (keys > 0 && cluster.view().map().epoch() == 0) {
            throw ConfigException.about("cluster-controllers", "cluster-controllers: expected a dir without data, but "
                    + server.config().text("dir") + " has " + keys + " keys of a server outside the cluster. A member"
                    + " would delete those whose hash slots others own. Start it with an empty dir, and move the keys"
                    + " there with a client, such as by MIGRATE");
        }
    }

    /** The address of this machine from which packets to a controller leave. Nothing is sent. */
    private static String addressTowards(ControllerAddress controller) {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress(controller.host(), controller.port()));
            return socket.getLocalAddress().getHostAddress();
        } catch (SocketException | UncheckedIOException | IllegalArgumentException unknown) {
            throw ConfigException.about("cluster-announce-ip", "cluster-announce-ip: expected the address of this"
                    + " machine for other members and clients: it cannot be derived, because the controller "
                    + controller.address() + " is not reachable (" + unknown.getMessage() + ")");
        }
    }

    // --- what the session calls

    @Override
    public long replicationOffset() {
        SlotMap map;
        synchronized (this) {
            map = newest;
        }
        Member me = map.member(id);
        ReplicaRole role = server.role();
        boolean isPrimary = me == null || me.isPrimary();
        // In this order: only then the data is that of the primary in the map.
        boolean isFollowing = me != null && followed.equals(me.primaryId());
        boolean isWhole = role.hasPrimarysData() || isPrimary && !role.isReplica();
        if (isWhole && (isPrimary || isFollowing)) {
            return server.replicas().offset();
        }
        return role.isLoading() ? Query.Heartbeat.LOADING : Query.Heartbeat.NO_DATA;
    }

    /** Whether the map names a replica that has introduced itself as a replica of this member. */
    private boolean isReplicaOfThis(String memberId) {
        Member member = cluster.view().map().member(memberId);
        return member != null && id.equals(member.primaryId());
    }

    @Override
    public synchronized void mapChanged(SlotMap map) {
        newest = map;
        waiting = map;
        notifyAll();
    }

    @Override
    public synchronized void leased(long untilNanos) {
        leaseUntilNanos = untilNanos;
        isLeaseNew = true;
        hasLeaseNews = true;
        notifyAll();
    }

    @Override
    public synchronized void removed(String reason) {
        LOG.warn("This server serves no slots any more: {}. Restart it to register again", reason);
        leaseUntilNanos = System.nanoTime();
        isLeaseNew = true;
        hasLeaseNews = true;
        isRemoved = true;
        waiting = null;
        notifyAll();
        // Its primary must not count it any more.
        server.role().followNone(() -> {});
    }

    @Override
    public void refused(String reason) {
        LOG.warn("The controllers refuse this server: {}", reason);
    }

    // --- its thread

    private void run() {
        try {
            while (awaitNews()) {
                SlotMap map = takeMap();
                if (map != null) {
                    isInForce = apply(map);
                }
                extendLease();
                if (map != null && isSaving.compareAndSet(false, true)) {
                    // On another thread: the disk may take longer than a lease.
                    files.execute(this::save);
                }
            }
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error bug) {
            LOG.error("This member cannot follow the controllers any more, and leaves the cluster", bug);
            cluster.lease(false);
            closeSession();
        }
    }

    private void save() {
        isSaving.set(false);
        cluster.saveView();
    }

    /**
     * Waits for a map, a lease, or the end of the lease that the cluster's state has.
     *
     * @return false at the end
     */
    private synchronized boolean awaitNews() throws InterruptedException {
        while (!isClosing && waiting == null && !isLeaseNew && !isLeaseOver()) {
            if (hasLeaseNews && cluster.view().isLeased()) {
                wait(1 + TimeUnit.NANOSECONDS.toMillis(Math.max(0, leaseUntilNanos - System.nanoTime())));
            } else {
                wait();
            }
        }
        return !isClosing;
    }

    private synchronized @Nullable SlotMap takeMap() {
        SlotMap map = waiting;
        waiting = null;
        return map;
    }

    private boolean isLeaseOver() {
        return hasLeaseNews && cluster.view().isLeased() && System.nanoTime() - leaseUntilNanos >= 0;
    }

    private void extendLease() {
        long until;
        synchronized (this) {
            if (waiting != null) {
                // The lease is for that map.
                return;
            }
            isLeaseNew = false;
            until = leaseUntilNanos;
        }
        boolean before = cluster.view().isLeased();
        if (isInForce) {
            cluster.lease(until);
        } else {
            cluster.lease(false);
        }
        if (before && !cluster.view().isLeased()) {
            LOG.warn("The lease has ended: no leading controller has replied in time. Commands on keys are refused");
        } else if (!before && cluster.view().isLeased()) {
            LOG.info("This server has a lease");
        }
    }

    /** @return whether the map is in force */
    private boolean apply(SlotMap map) throws InterruptedException {
        if (map.epoch() < cluster.view().map().epoch()) {
            LOG.warn("The controllers' map has epoch {}, this member's one {}: these are not the controllers that it"
                    + " has had. Remove {} to join them", map.epoch(), cluster.view().map().epoch(),
                    server.config().text("cluster-config-file"));
            return false;
        }
        Member me = map.member(id);
        if (me == null || me.isPrimary()) {
            endFollowing();
            cluster.install(map);
            return true;
        }
        String primary = Objects.requireNonNull(me.primaryId());
        boolean wasPrimary = !server.role().isReplica();
        boolean losesWrites = wasPrimary && !handover.isSuccessor(primary);
        // From here on it accepts no write of a client. Only then it may follow.
        cluster.install(map);
        if (losesWrites) {
            disconnectWriters();
        }
        if (wasPrimary && cluster.copies().hasHadAny()) {
            // The primary does not have these keys, so its stream would not delete them.
            server.replicas().beginAnew();
        }
        if (!isRemoved) {
            follow(Objects.requireNonNull(map.member(primary)));
        }
        return true;
    }

    /**
     * Ends the connections of clients that have written: WAIT must not confirm writes to them that this member is about
     * to discard, even if it becomes a primary again.
     */
    private void disconnectWriters() {
        for (Client client : server.lifecycle().clients().unordered()) {
            if (client.repliesAfter() > 0 && !client.isReplica()) {
                client.connection().kill();
            }
        }
    }

    private void follow(Member primary) {
        ReplicaRole role = server.role();
        ReplicaRole.Status status = role.status();
        boolean isAtAddress = status != null && status.port() == primary.port()
                && status.host().equals(primary.host());
        if (!followed.equals(primary.id())) {
            LOG.info("This server is a replica of {} from now on", primary.address());
            role.follow(primary.host(), primary.port());
        } else if (!isAtAddress) {
            role.followMoved(primary.host(), primary.port());
        }
        followed = primary.id();
    }

    private void endFollowing() throws InterruptedException {
        if (server.role().isReplica()) {
            LOG.info("This server becomes a primary");
            CountDownLatch done = new CountDownLatch(1);
            server.role().followNone(done::countDown);
            done.await();
        }
        followed = "";
    }

    /** Hands the role of a primary to a replica before this server stops, if that is possible in time. */
    public void handOver() {
        if (!cluster.keepsRole()) {
            handover.handOverBeforeStop();
        }
    }

    /**
     * Ends the lease: commands on keys are refused from now on. The controllers fail over, if there is a replica, as
     * soon as they miss this member.
     */
    public void endLease() {
        synchronized (this) {
            isClosing = true;
            notifyAll();
        }
        thread.interrupt();
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        cluster.lease(false);
        handover.close();
        files.close();
    }

    private void closeSession() {
        try {
            session.close();
        } catch (IOException failed) {
            LOG.warn("The connection to the controllers did not end properly: {}", failed.toString());
        }
    }

    /** Ends the heartbeats, after {@link #endLease}. */
    @Override
    public void close() {
        endLease();
        closeSession();
    }
}
