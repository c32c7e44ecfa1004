package io.varve.cluster.controller;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.varve.cluster.map.Member;
import io.varve.cluster.protocol.ChangeResult;
import io.varve.cluster.protocol.Command;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks for due fail-overs while this controller leads, and pings plain members. It has a thread of its own.
 *
 * <p>A controller that does not lead looks on, so that it begins a term of leases as soon as it leads.
 */
final class FailoverMonitor implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(FailoverMonitor.class);

    private final LeaseTimes times;
    private final LeaseTable leases;
    private final Supplier<ClusterState> states;
    private final LongSupplier leadingTerm;
    private final Function<Command, CompletableFuture<ChangeResult>> proposals;
    /** Primaries with a proposal whose outcome is not known. */
    private final Set<String> proposed = ConcurrentHashMap.newKeySet();
    /** Plain members with a ping on its way. */
    private final Set<String> pinged = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = Thread.ofPlatform().daemon().name("varve-failover").unstarted(this::run);
    private int ticks;

    /**
     * @param leadingTerm the term that this controller leads, or {@link LeadershipCheck#NOT_CONFIRMED}
     * @param proposals passes a command through the log
     */
    FailoverMonitor(LeaseTimes times, LeaseTable leases, Supplier<ClusterState> states, LongSupplier leadingTerm,
            Function<Command, CompletableFuture<ChangeResult>> proposals) {
        this.times = times;
        this.leases = leases;
        this.states = states;
        this.leadingTerm = leadingTerm;
        this.proposals = proposals;
    }

    void start() {
        thread.start();
    }

    private void run() {
        try {
            while (!closed.await(times.hurriedMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    tick();
                } catch (RuntimeException failed) {
                    LOG.error("The monitor of fail-overs failed, and goes on", failed);
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void tick() {
        long term = leadingTerm.getAsLong();
        if (term == LeadershipCheck.NOT_CONFIRMED) {
            return;
        }
        leases.begin(term);
        for (LeaseTable.Failover failover : leases.due(term)) {
            if (proposed.add(failover.primaryId())) {
                // The outcome of an earlier proposal may have ended the fence meanwhile.
                if (leases.fenceIfExpired(failover.primaryId(), term)) {
                    propose(failover);
                } else {
                    proposed.remove(failover.primaryId());
                }
            }
        }
        if (ticks++ % LeaseTimes.HURRY == 0) {
            ping(term);
        }
    }

    private void propose(LeaseTable.Failover failover) {
        LOG.warn("The lease of {} has ended: promoting {} in term {}", failover.primaryId(), failover.replicaId(),
                failover.term());
        CompletableFuture<ChangeResult> _ = proposals
                .apply(new Command.Promote(failover.replicaId(), failover.primaryId(), failover.term()))
                .whenComplete((result, failed) -> {
                    if (failed != null) {
                        // The outcome is unknown: the primary stays fenced, and the next look proposes again.
                        LOG.warn("The promotion of {} may have failed: {}", failover.replicaId(), failed.toString());
                    } else if (result.accepted()) {
                        LOG.info("{} is the primary in place of {}, epoch {}", failover.replicaId(),
                                failover.primaryId(), result.epoch());
                    } else {
                        leases.unfence(failover.primaryId());
                        LOG.warn("The promotion of {} was refused: {}", failover.replicaId(), result.reason());
                    }
                    proposed.remove(failover.primaryId());
                });
    }

    private void ping(long term) {
        for (Member member : states.get().map().members()) {
            if (member.kind() == Member.Kind.PLAIN && pinged.add(member.id())) {
                Thread.ofVirtual().start(() -> {
                    try {
                        if (PlainMember.ping(member.host(), member.port(), times.leaseMillis())) {
                            leases.pinged(member.id(), term);
                        }
                    } finally {
                        pinged.remove(member.id());
                    }
                });
            }
        }
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
