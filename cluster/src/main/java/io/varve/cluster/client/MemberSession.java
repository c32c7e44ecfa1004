package io.varve.cluster.client;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.protocol.Command;
import io.varve.cluster.protocol.ControllerAddress;
import io.varve.cluster.protocol.HeartbeatReply;
import io.varve.cluster.protocol.Query;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member's registration and heartbeats, on a thread of their own. That thread writes; any thread reads.
 *
 * <p>A lease begins when the heartbeat was sent, on this machine's clock. The controllers count it from the receipt, so
 * that they see its end later. {@link System#nanoTime} stands still while a machine is suspended: do not resume a
 * suspended primary.
 */
public final class MemberSession implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MemberSession.class);
    private static final long CHANGE_DEADLINE_MILLIS = 2_000;
    private static final long REFUSED_PAUSE_MILLIS = 1_000;
    private static final long FAILED_PAUSE_MILLIS = 50;

    private final ControllerClient client;
    private final Member self;
    private final MemberState state;
    /** Has a permit if the next heartbeat is due at once. */
    private final Semaphore due = new Semaphore(0);
    private volatile boolean isClosed;
    private final Thread thread;
    private volatile SlotMap map = SlotMap.EMPTY;
    private volatile long leaseUntilNanos = System.nanoTime();
    private volatile long generation;
    // Only the session's thread uses these.
    private boolean isFresh = true;
    private long term;
    private long stamp;

    private MemberSession(List<ControllerAddress> controllers, Member self, MemberState state) {
        client = new ControllerClient(controllers, CHANGE_DEADLINE_MILLIS);
        this.self = self;
        this.state = state;
        thread = Thread.ofPlatform().daemon().name("varve-member-" + self.port()).unstarted(this::run);
    }

    /**
     * Starts a session. It registers as soon as the controllers reply.
     *
     * @param self role and weight count at the first registration of its ID only
     */
    public static MemberSession start(List<ControllerAddress> controllers, Member self, MemberState state) {
        MemberSession session = new MemberSession(controllers, self, state);
        session.thread.start();
        return session;
    }

    /**
     * The end of the lease, as a value of {@link System#nanoTime}. A primary must refuse writes from then on, and must
     * not acknowledge any.
     */
    public long leaseUntilNanos() {
        return leaseUntilNanos;
    }

    /** Whether the lease holds now. */
    public boolean hasLease() {
        return System.nanoTime() - leaseUntilNanos < 0;
    }

    /** The newest map that the controllers have sent. */
    public SlotMap map() {
        return map;
    }

    /** Names this process in {@link Command.FinishMigration}; 0 before it has registered. */
    public long generation() {
        return generation;
    }

    /** For changes by this member. Closed with the session. */
    public ControllerClient client() {
        return client;
    }

    private void run() {
        try {
            while (!register()) {
                if (isClosedAfter(REFUSED_PAUSE_MILLIS)) {
                    return;
                }
            }
            long pauseMillis = 0;
            while (pauseMillis >= 0 && !isClosedAfter(pauseMillis)) {
                pauseMillis = heartbeat();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isClosedAfter(long pauseMillis) throws InterruptedException {
        if (due.tryAcquire(pauseMillis, TimeUnit.MILLISECONDS)) {
            due.drainPermits();
        }
        return isClosed;
    }

    /** Sends the next heartbeat at once: the map has probably changed. */
    public void hurry() {
        due.release();
    }

    private boolean register() {
        try {
            generation = client.change(new Command.Register(self)).generation();
            return true;
        } catch (RefusedException refused) {
            state.refused(String.valueOf(refused.getMessage()));
        } catch (ControllersUnavailableException unavailable) {
            LOG.warn("{}: {}", self.address(), unavailable.getMessage());
        } catch (RuntimeException failed) {
            // Without this thread the member would never join.
            LOG.error("{}: the registration failed", self.address(), failed);
        }
        return false;
    }

    /** @return when to send the next one, in milliseconds; -1 at the end of the membership */
    private long heartbeat() {
        long sentNanos = System.nanoTime();
        HeartbeatReply reply;
        try {
            reply = client.heartbeat(new Query.Heartbeat(self.id(), generation, map.epoch(),
                    state.replicationOffset(), isFresh, term, stamp));
        } catch (ControllersUnavailableException unavailable) {
            LOG.debug("{}: {}", self.address(), unavailable.getMessage(), unavailable);
            return FAILED_PAUSE_MILLIS;
        } catch (RuntimeException failed) {
            // Without this thread the member would lose its lease for good.
            LOG.error("{}: a heartbeat failed", self.address(), failed);
            return FAILED_PAUSE_MILLIS;
        }
        return switch (reply.status()) {
            case RETRY -> FAILED_PAUSE_MILLIS;
            case UNKNOWN -> end("the member was removed from the cluster");
            case REPLACED -> end("another process has registered as " + self.id());
            case MEMBER -> {
                accept(reply, sentNanos);
                yield Math.max(0, reply.nextMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sentNanos));
            }
        };
    }

    private void accept(HeartbeatReply reply, long sentNanos) {
        term = reply.term();
        stamp = reply.stamp();
        SlotMap newer = reply.map();
        if (newer != null && newer.epoch() < map.epoch()) {
            LOG.warn("{}: the controllers' map has epoch {}, this member's one {}: they have lost changes, such as by"
                    + " an older copy of their data. Their leases do not count", self.address(), newer.epoch(),
                    map.epoch());
            return;
        }
        if (newer != null && newer.epoch() > map.epoch()) {
            map = newer;
            state.mapChanged(newer);
        }
        if (reply.leaseMillis() > 0) {
            isFresh = false;
            leaseUntilNanos = sentNanos + TimeUnit.MILLISECONDS.toNanos(reply.leaseMillis());
            state.leased(leaseUntilNanos);
        }
    }

    private long end(String reason) {
        leaseUntilNanos = System.nanoTime();
        state.removed(reason);
        return -1;
    }

    /** Ends the heartbeats. The lease ends too, as this member sees it. */
    @Override
    public void close() throws IOException {
        isClosed = true;
        hurry();
        leaseUntilNanos = System.nanoTime();
        client.close();
        try {
            thread.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        leaseUntilNanos = System.nanoTime();
    }
}
