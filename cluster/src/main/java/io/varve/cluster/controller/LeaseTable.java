package io.varve.cluster.controller;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.varve.cluster.map.Member;
import io.varve.cluster.protocol.ClusterView;
import io.varve.cluster.protocol.HeartbeatReply;
import io.varve.cluster.protocol.Query;
import org.jspecify.annotations.Nullable;

/**
 * The leases of a term of the leading controller, and the fail-overs that are due. Guarded by its monitor.
 *
 * <p>Only the leader has one, in memory. At the start of a term each member is taken to have just been granted a lease
 * by the previous leader, so that a fail-over waits for one full lease. Decision 48 has the reasons.
 */
final class LeaseTable {
    /** A replica that shall replace its primary. */
    record Failover(String replicaId, String primaryId, long term) {}

    /** What is known of a member's process. */
    private static final class Entry {
        long generation;
        /** The last heartbeat's time of receipt. */
        long heardNanos;
        boolean isHeard;
        /** The first heartbeat of this generation. */
        long firstNanos;
        /** No lease that was granted to any process of the member holds at this time, or later. */
        long leaseEndNanos;
        /** An offset of the data of its primary, or as in {@link Query.Heartbeat}. */
        long offset = Query.Heartbeat.NO_DATA;
        /** Empty: none. */
        String primaryId = "";
        /** A heartbeat with an older map does not know yet that it has this primary. */
        long primaryEpoch;
        boolean isFresh;
        /** The last generation that was granted a lease in this term. */
        long grantedGeneration;
        /** The member sent its last heartbeat after this time of the leader's clock. */
        long sentAfterNanos;
        /** A process without a lease so far may serve as the primary. */
        boolean mayServe;
        /** A fail-over from it was proposed: it receives no lease until the outcome is known. */
        boolean isFenced;

        Entry(long leaseEndNanos) {
            this.leaseEndNanos = leaseEndNanos;
            sentAfterNanos = Long.MIN_VALUE;
        }

        /** Whether the process has never had a lease, so that it may lack what an earlier process acknowledged. */
        boolean isUnproven() {
            return isFresh && grantedGeneration != generation;
        }
    }

    private final LeaseTimes times;
    private final LongSupplier clock;
    /** Read under the monitor, so that a lease and the map that goes with it fit the fences. */
    private final Supplier<ClusterState> states;
    private final Map<String, Entry> entries = new HashMap<>();
    private long term;
    private long beginNanos;

    /**
     * @param clock nanoseconds of a monotonic clock, which begins anywhere
     * @param states the state that this controller has applied
     */
    LeaseTable(LeaseTimes times, LongSupplier clock, Supplier<ClusterState> states) {
        this.times = times;
        this.clock = clock;
        this.states = states;
    }

    /** Begins a term of this leader, if it has not begun. */
    synchronized void begin(long newTerm) {
        if (newTerm > term) {
            term = newTerm;
            beginNanos = clock.getAsLong();
            entries.clear();
        }
    }

    private Entry entry(String id) {
        return entries.computeIfAbsent(id, _ -> new Entry(beginNanos + times.fullLeaseNanos()));
    }

    private boolean isAlive(Entry entry, long now) {
        return entry.isHeard && now - entry.heardNanos <= times.fullLeaseNanos();
    }

    /**
     * Receives a heartbeat. The caller has made sure that this controller led in this term at some time after it had
     * received the heartbeat.
     *
     * @param receivedNanos the clock when the heartbeat came in
     */
    synchronized HeartbeatReply heartbeat(Query.Heartbeat heartbeat, long receivedNanos, long confirmedTerm) {
        if (confirmedTerm != term) {
            return without(HeartbeatReply.Status.RETRY);
        }
        ClusterState state = states.get();
        Member member = state.map().member(heartbeat.id());
        if (member == null) {
            return without(HeartbeatReply.Status.UNKNOWN);
        }
        if (heartbeat.generation() != state.generation(member.id())) {
            return without(HeartbeatReply.Status.REPLACED);
        }
        Entry entry = entry(member.id());
        if (entry.generation != heartbeat.generation()) {
            entry.generation = heartbeat.generation();
            entry.firstNanos = receivedNanos;
            entry.mayServe = false;
            entry.sentAfterNanos = Long.MIN_VALUE;
        }
        entry.isHeard = true;
        entry.heardNanos = receivedNanos;
        notePrimary(entry, member, state);
        entry.offset = heartbeat.epoch() < entry.primaryEpoch ? Query.Heartbeat.LOADING : heartbeat.offset();
        entry.isFresh = heartbeat.fresh();
        if (heartbeat.term() == term) {
            entry.sentAfterNanos = heartbeat.stamp();
        }
        long lease = 0;
        if (isGranted(state, member, entry, receivedNanos)) {
            lease = times.leaseMillis();
            entry.grantedGeneration = entry.generation;
            entry.leaseEndNanos = Math.max(entry.leaseEndNanos, receivedNanos + times.fullLeaseNanos());
        }
        return new HeartbeatReply(HeartbeatReply.Status.MEMBER, lease, nextMillis(state, member, lease), term,
                receivedNanos, heartbeat.epoch() == state.map().epoch() ? null : state.map());
    }

    /**
     * An offset counts only for the primary that the member had when it sent it: a new replica has none of its data.
     * The leader treats an earlier offset as {@link Query.Heartbeat#LOADING}: the replica may have data, and the leader
     * does not promote it.
     */
    private static void notePrimary(Entry entry, Member member, ClusterState state) {
        String primary = member.primaryId() == null ? "" : member.primaryId();
        if (!primary.equals(entry.primaryId)) {
            entry.primaryId = primary;
            entry.primaryEpoch = state.map().epoch();
            entry.offset = Query.Heartbeat.LOADING;
        }
    }

    private HeartbeatReply without(HeartbeatReply.Status status) {
        return new HeartbeatReply(status, 0, times.heartbeatMillis(), term, clock.getAsLong(), null);
    }

    private boolean isGranted(ClusterState state, Member member, Entry entry, long now) {
        if (!member.isPrimary()) {
            return true;
        }
        if (entry.isFenced) {
            return false;
        }
        if (!entry.isUnproven()) {
            return true;
        }
        // The lease of an earlier process of this member may still hold.
        return now >= entry.leaseEndNanos
                && (entry.mayServe || state.map().replicas(member).isEmpty() || isNew(state, member));
    }

    /** Whether it cannot have data that its replicas have, and it lacks: no replica has any, or loads any. */
    private boolean isNew(ClusterState state, Member primary) {
        return state.map().replicas(primary).stream().map(replica -> entry(replica.id()))
                .allMatch(entry -> isAlive(entry, clock.getAsLong()) && entry.offset == Query.Heartbeat.NO_DATA);
    }

    private long nextMillis(ClusterState state, Member member, long lease) {
        String primary = member.primaryId();
        // Both ends of a migration wait for the map after each group of slots.
        boolean isAwaited = lease == 0 || state.map().isMigrating(member);
        if (primary != null) {
            Entry entry = entry(primary);
            isAwaited = entry.isUnproven() || entry.isFenced
                    || clock.getAsLong() - (entry.isHeard ? entry.heardNanos : beginNanos) > times.suspectNanos();
        }
        return isAwaited ? times.hurriedMillis() : times.heartbeatMillis();
    }

    /** A plain member has replied to a ping. */
    synchronized void pinged(String id, long forTerm) {
        if (forTerm == term) {
            Entry entry = entry(id);
            entry.isHeard = true;
            entry.heardNanos = clock.getAsLong();
        }
    }

    /** Whether no process of this member can have a lease. If so, it receives none from now on. */
    synchronized boolean fenceIfExpired(String id, long forTerm) {
        Entry entry = entry(id);
        if (forTerm != term || clock.getAsLong() < entry.leaseEndNanos) {
            return false;
        }
        entry.isFenced = true;
        return true;
    }

    /** The outcome of all that was proposed for this member is known. */
    synchronized void unfence(String id) {
        Entry entry = entries.get(id);
        if (entry != null) {
            entry.isFenced = false;
        }
    }

    /**
     * Returns the fail-overs that are due, and fences their primaries. A fail-over whose outcome is unknown is returned
     * again.
     *
     * <p>It waits until each live replica has sent a heartbeat after the primary's lease had ended: only then has it
     * reported all that the primary can have acknowledged.
     */
    synchronized List<Failover> due(long forTerm) {
        List<Failover> due = new ArrayList<>();
        if (forTerm != term) {
            return due;
        }
        ClusterState state = states.get();
        entries.keySet().removeIf(id -> state.map().member(id) == null);
        long now = clock.getAsLong();
        state.map().members().forEach(member -> notePrimary(entry(member.id()), member, state));
        for (Member member : state.map().members()) {
            if (!member.isPrimary()) {
                // A fail-over from it has been applied.
                entry(member.id()).isFenced = false;
            } else if (member.kind() == Member.Kind.VARVE && !state.map().replicas(member).isEmpty()) {
                Failover failover = failover(member, state.map().replicas(member), now);
                if (failover != null) {
                    entry(member.id()).isFenced = true;
                    due.add(failover);
                }
            }
        }
        return due;
    }

    private @Nullable Failover failover(Member primary, List<Member> replicas, long now) {
        Entry entry = entry(primary.id());
        boolean isRestarted = isAlive(entry, now) && entry.isUnproven() && !entry.mayServe;
        boolean isServing = isAlive(entry, now) && !isRestarted && !entry.isFenced;
        if (isServing || now < entry.leaseEndNanos || !isReported(replicas, entry.leaseEndNanos, now)) {
            return null;
        }
        Member best = mostAdvanced(replicas, now);
        if (best != null) {
            // Also if the primary has started again and seems to be as far: its offset is one of a new history.
            return new Failover(best.id(), primary.id(), term);
        }
        boolean isAnyLoading = replicas.stream().map(replica -> entry(replica.id()))
                .anyMatch(replica -> isAlive(replica, now) && replica.offset == Query.Heartbeat.LOADING);
        if (isRestarted && !isAnyLoading && now - entry.firstNanos >= times.fullLeaseNanos()) {
            entry.mayServe = true;
        }
        return null;
    }

    /** In a new term, members may need some time to find this leader. */
    private boolean isReported(List<Member> replicas, long leaseEndNanos, long now) {
        boolean isEarly = now - beginNanos < 2 * times.fullLeaseNanos();
        return replicas.stream().filter(replica -> replica.kind() == Member.Kind.VARVE)
                .map(replica -> entry(replica.id()))
                .allMatch(entry -> entry.sentAfterNanos >= leaseEndNanos
                        || (entry.isHeard ? !isAlive(entry, now) : !isEarly));
    }

    private @Nullable Member mostAdvanced(List<Member> replicas, long now) {
        Member best = null;
        for (Member replica : replicas) {
            Entry entry = entry(replica.id());
            boolean isCandidate = isAlive(entry, now) && entry.offset >= 0 && replica.kind() == Member.Kind.VARVE;
            if (isCandidate && (best == null || entry.offset > entry(best.id()).offset)) {
                best = replica;
            }
        }
        return best;
    }

    /** What is known of each member, by ID. */
    synchronized Map<String, ClusterView.Liveness> liveness() {
        ClusterState state = states.get();
        long now = clock.getAsLong();
        Map<String, ClusterView.Liveness> liveness = new HashMap<>();
        for (Member member : state.map().members()) {
            Entry entry = entry(member.id());
            boolean isAlive = isAlive(entry, now);
            long rest = isAlive && !entry.isUnproven() && !entry.isFenced && member.kind() == Member.Kind.VARVE
                    ? Math.max(0, entry.leaseEndNanos - now)
                    : 0;
            liveness.put(member.id(), new ClusterView.Liveness(isAlive, TimeUnit.NANOSECONDS.toMillis(rest),
                    entry.offset));
        }
        return liveness;
    }
}
